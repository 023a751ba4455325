"""A tool call as the user is told of it, from its start to its result."""

import json
import time
from collections.abc import Callable
from typing import Literal

from agent_cli.controller.endings import failure
from agent_cli.core.display import Display, TerminalBlock
from agent_cli.core.events import ToolFinished, ToolProgress, ToolStarted
from agent_cli.core.messages import text_of
from agent_cli.frontends.shared.bounded import bound_display, bound_text
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import clean, visible

State = Literal["running", "asking", "done", "failed"]

_TAIL_SOURCE = 4_000
_MAX_ARGUMENT_CHARS = 2_000


class Call:
    """Takes the events of one call; what it holds of arguments and names is safe to show."""

    def __init__(
        self,
        event: ToolStarted,
        *,
        depth: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.call_id = event.call_id
        self.tool = visible(tr(event.tool), one_line=True)
        self.argument = visible(event.title[:_MAX_ARGUMENT_CHARS] or _main(event), one_line=True)
        self.depth = (1 if event.parent_id else 0) if depth is None else depth
        self.state: State = "running"
        self.is_running = True
        """Whether its time still counts."""
        self.status = clean(event.status)
        self._arguments = _arguments(event)
        self._clock = clock
        self._started = clock()
        self._seconds: float | None = None
        self._tail = ""
        self._displays: tuple[Display, ...] = ()
        self._text = ""
        self._error = ""

    @property
    def seconds(self) -> float:
        """How long it takes so far, or took."""
        return self._clock() - self._started if self._seconds is None else self._seconds

    @property
    def tail(self) -> str:
        """The end of what it printed while it runs; foreign text."""
        return self._tail

    @property
    def displays(self) -> tuple[Display, ...]:
        """What it shows."""
        return self._displays

    @property
    def error(self) -> str:
        """What went wrong; foreign text."""
        return self._error

    @property
    def told_status(self) -> str:
        """How it stands, in a few words."""
        status = tr("waiting for you") if self.state == "asking" else self.status
        if not status:
            status = {"running": tr("running"), "failed": tr("failed")}.get(self.state, "")
        if self.state == "done" and (code := self.exit_code):
            told = tr("exit {code}", code=code)
            status = status if told in status else f"{told}  {status}".rstrip()
        return status

    @property
    def exit_code(self) -> int | None:
        """Of the command it ran, if it ran one."""
        codes = (d.exit_code for d in self._displays if isinstance(d, TerminalBlock))
        return next((code for code in codes if code is not None), None)

    def asking(self) -> None:
        """The call waits for the user's permission or answer."""
        if self.is_running:
            self.state = "asking"

    def resume(self) -> None:
        """The user has answered, and the call continues."""
        if self.is_running:
            self.state = "running"

    def progress(self, event: ToolProgress) -> None:
        """Show what a running call says."""
        if event.text:
            self._tail = (self._tail + event.text)[-_TAIL_SOURCE:]
        if event.block is not None:
            self._displays = (bound_display(event.block),)

    def finish(self, event: ToolFinished) -> None:
        """Show what came of the call."""
        result = event.result
        self.state = "done" if result.success else "failed"
        self.status = clean(result.summary)
        self.is_running, self._seconds = False, event.seconds
        self._tail = ""
        self._displays = tuple(bound_display(display) for display in result.display)
        is_told_below = result.error and result.error.message.startswith(result.summary)
        if is_told_below and self.exit_code is None:
            self.status = ""
        self._text = "" if self._displays else bound_text(text_of(result.llm_content))
        self._error = bound_text(failure(result.error)) if result.error else ""


def _main(event: ToolStarted) -> str:
    """The first argument that is a text, for a tool that names no main one."""
    found = next((value for value in event.arguments.values() if isinstance(value, str)), "")
    return found[:_MAX_ARGUMENT_CHARS]


def _arguments(event: ToolStarted) -> tuple[tuple[str, str], ...]:
    shown = []
    for name, value in list(event.arguments.items())[:20]:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if len(text) > _MAX_ARGUMENT_CHARS:
            text = f"{text[:_MAX_ARGUMENT_CHARS]}…"
        shown.append((visible(name, one_line=True), visible(text)))
    return tuple(shown)
