"""What a session and its frontends know of extensions, whatever these are.

They come in the background, once a frontend says `start`, and leave with the session. Their tools
arrive in the registry between turns, so that the beginning of a request stays the same in a turn.
"""

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agent_cli.core.events import Event
from agent_cli.core.prompt_template import PromptTemplate


@dataclass(frozen=True, kw_only=True)
class SlashCommand:
    """A slash command that needs nothing of the screen: a text in, Markdown for the user out."""

    name: str
    help: str
    run: Callable[[str], Awaitable[str | None] | str | None]
    argument: str = ""
    """What it wants to be followed by: "<city>", or "[city]" if it can do without."""


@dataclass(frozen=True, kw_only=True)
class PromptCommand:
    """A slash command that is a prompt: a text in, what is sent to the model out."""

    name: str
    help: str
    prompt: Callable[[str], PromptTemplate]
    argument: str = ""
    """As above."""


AnySlashCommand = SlashCommand | PromptCommand


class Extensions(Protocol):
    """The extensions of one session."""

    @property
    def commands(self) -> Sequence[AnySlashCommand]:
        """The slash commands they bring."""

    def start(self, tell: Callable[[Event], None], is_busy: Callable[[], bool]) -> None:
        """Begin to load, and return at once. `tell` takes notices and questions for the user;
        `is_busy` says whether a turn is under way."""

    async def wait_ready(self, seconds: float) -> None:
        """Wait until all have arrived or failed, but no longer than this."""

    def turn_begins(self) -> None:
        """Let in what arrived since the last turn began."""

    def background(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something beside everything else; it ends with the session."""

    async def close(self) -> None:
        """Unload everything."""
