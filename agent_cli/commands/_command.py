"""What a slash command is, and what a frontend offers to it."""

from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from agent_cli.core.events import Event
from agent_cli.core.session import Session
from agent_cli.core.written import Written
from agent_cli.wishes import Resume


class Desk(Protocol):
    """What a command may do to the frontend it was given in."""

    @property
    def session(self) -> Session:
        """The session under way."""
        ...

    def say(self, markdown: str) -> None:
        """Show a text of the program's own."""
        ...

    def warn(self, text: str, hint: str = "") -> None:
        """Show that something is wrong."""
        ...

    def notify(self, text: str) -> None:
        """Show a line that goes away by itself, where there is such a thing."""
        ...

    def background(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something that takes time, while the person goes on."""
        ...

    def choose_session(self, words: str) -> None:
        """Let the person choose a session, of those in which these words were said, if any."""
        ...

    def resume(self, resume: Resume) -> None:
        """Leave this session and go on with another."""
        ...

    def changed(self) -> None:
        """Something the status line tells has changed."""
        ...

    def clear(self) -> None:
        """Begin with an empty screen and an empty conversation."""
        ...

    def retry(self) -> None:
        """Play the turn again that failed."""
        ...

    def undo(self, scope: str) -> None:
        """Ask about taking back the last "call" or "turn", or a call by its id."""
        ...

    def redo(self) -> None:
        """Ask about bringing back what was undone last."""
        ...

    def rewind(self) -> None:
        """Ask which prompt to go back to."""
        ...

    def play(self, turn: AsyncGenerator[Event, None]) -> None:
        """Follow something of the session's that reads like a turn, if none is under way."""
        ...

    def send(self, prompt: Written) -> None:
        """Begin a turn with a prompt that a command wrote, if none is under way."""
        ...

    def copy(self, what: Literal["reply", "all"]) -> None:
        """Put the last reply, or the whole conversation, on the clipboard."""
        ...

    def help(self) -> None:
        """Show keys and commands."""
        ...

    def changes(self) -> Sequence[str]:
        """The diffs of this session, oldest first."""
        ...

    def window(self) -> int | None:
        """How many tokens a request may have, if that is known by now."""
        ...

    def themes(self) -> Sequence[str]:
        """The looks there are; none where there is no choice."""
        ...

    def use_theme(self, name: str) -> None:
        """Change the look."""
        ...

    def leave(self) -> None:
        """End the program."""
        ...


@dataclass(frozen=True, kw_only=True)
class Command:
    """A slash command: `/name argument`."""

    name: str
    help: str
    run: Callable[[Desk, str], None]
    argument: str = ""
    """What it wants to be followed by: "<name>", or "[name]" if it can do without."""
    aliases: tuple[str, ...] = ()
