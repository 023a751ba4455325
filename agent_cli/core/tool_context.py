"""What a running tool may see and do."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from agent_cli.core.display import Display
from agent_cli.lib.closing import close_all
from agent_cli.safety.paths import PathProblem, ResolvedPath, Workspace
from agent_cli.safety.reasons import Reason, because
from agent_cli.safety.sandbox import Profile, SandboxChoice

if TYPE_CHECKING:
    from agent_cli.core.agents.agent_task import AgentReport, AgentTask
    from agent_cli.core.inbox import Answers, PlanAnswer, Question
    from agent_cli.core.model import Model
    from agent_cli.core.tool import ToolResult

S = TypeVar("S")

MAX_RESULT_CHARS = 50_000
"""Characters of one result that reach the model."""
_NOTE_CHARS = 2_000


class SessionState:
    """The tools' own memory during a session: one object per type, made when first used."""

    def __init__(self) -> None:
        self._objects: dict[type[Any], Any] = {}

    def get(self, kind: type[S]) -> S:
        """The session's one object of this type."""
        if kind not in self._objects:
            self._objects[kind] = kind()
        found: S = self._objects[kind]
        return found

    def offering(self, name: str) -> list[Any]:
        """The objects that have something of this name."""
        return [held for held in self._objects.values() if hasattr(held, name)]

    async def close(self) -> None:
        """Close what wants closing (a `close()`), last made first, whatever one of them raises."""
        held, self._objects = reversed(self._objects.values()), {}
        await close_all(*(each.close for each in held if hasattr(each, "close")))


class ShellInfo:
    """Where the session's shell stands, and what in it gives words another meaning.

    The tool that owns the shell keeps it up to date; permission decisions read it.
    """

    def __init__(self) -> None:
        self.directory: str | None = None
        """The shell's directory; None: the workspace."""
        self.altered_by: tuple[str, ...] = ()
        """Aliases, variables and options that are not as in a fresh shell."""
        self.functions: frozenset[str] = frozenset()
        """Functions, which give another meaning only to commands that name them."""
        self.programs: tuple[str, ...] = ()
        """Directories of the workspace that are searched for programs before all others."""


@dataclass(frozen=True)
class SessionView:
    """What tools may know of the session they run in."""

    id: str
    workspace: Workspace
    environment: Mapping[str, str]
    """The environment child processes get; it holds no keys."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The configuration's `[tools]` table."""
    takes_images: bool = False
    """Whether the model in use can be shown pictures."""
    sandbox: SandboxChoice = field(default_factory=SandboxChoice)
    """What can confine commands."""
    temporary: str | None = None
    """A private directory for temporary files; commands know it as TMPDIR."""
    result_chars: int = MAX_RESULT_CHARS
    """What is longer is cut before the model sees it."""
    redact: Callable[[str], str] = str
    """Takes secrets out of a text that is kept."""

    @property
    def text_chars(self) -> int:
        """What a tool may fill with text of its own choice, so that its notes fit as well."""
        return max(self.result_chars - _NOTE_CHARS, self.result_chars // 2)


@dataclass(frozen=True)
class ToolContext:
    """Handed to each run of a tool; it is good for this one call."""

    call_id: str
    session: SessionView
    model: Model
    cancelled: threading.Event
    """Set when the call is cancelled; work in a thread looks at it, a coroutine need not."""
    progress: Callable[[str | Display], None]
    """Shows something while the tool runs: a piece of output or a whole block."""
    state: Callable[[type[S]], S]
    """The session's one object of a type: `context.state(ShellSession)`."""
    call: Callable[[str, Mapping[str, Any]], Awaitable[ToolResult]]
    """Runs another tool through the same checks: `await context.call("Read", {...})`."""
    ask: Callable[[tuple[Question, ...]], Awaitable[Answers]]
    """Asks the user; raises a failure where nobody can answer."""
    present: Callable[[str], Awaitable[PlanAnswer]]
    """Shows the user a plan; raises a failure where nobody can approve it."""
    agree: Callable[[Reason, Display], Awaitable[bool]] | None = None
    """Shows the user something that the call has led to, and asks whether it may stand."""
    send: Callable[[AgentTask], Awaitable[AgentReport]] | None = None
    """Has another agent do something, and waits for it."""
    may_read: Callable[[str], bool] | None = None
    """Whether the rules let this tool read a path by its real name; None: they say nothing."""
    confined: Profile | None = None
    """This call was allowed on condition that it runs in the sandbox, with these rights."""
    judged: Mapping[str, str] = field(default_factory=dict)
    """Where the call's paths led when it was decided about: as typed → real."""

    def resolve(self, path: str) -> ResolvedPath:
        """Where a path leads; raises PathProblem, also if that is elsewhere than was judged."""
        found = self.workspace.resolve(path)
        judged = self.judged.get(path, found.real)
        if found.real != judged:
            now = because("leads_elsewhere_now", now=found.real, approved=judged)
            raise PathProblem(path, now)
        return found

    @property
    def workspace(self) -> Workspace:
        """The directories the session may touch."""
        return self.session.workspace
