"""What a view is: the eight things a controller needs drawn, asked or done."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from agent_cli.controller.answers import AnswerOption as Option
from agent_cli.core.events import Event
from agent_cli.core.inbox import Request, RequestAnswer

if TYPE_CHECKING:
    from agent_cli.controller.slash_command import Command
    from agent_cli.launch_options import Resume

Emphasis = Literal["normal", "muted", "warning"]


@dataclass(frozen=True)
class MenuRow:
    """A line above the options of a menu: a text, and what is noted beside it."""

    text: str
    note: str = ""
    emphasis: Emphasis = "normal"


@dataclass(frozen=True)
class Menu:
    """A question of the program's own: a heading, what it is about, and the options."""

    heading: str
    options: Sequence[Option]
    rows: Sequence[MenuRow] = ()
    leave: str = "no"
    """The id of the option that Esc stands for."""


class View(Protocol):
    """Draws a session and passes on what the user does. None of it may raise for a reason.

    What does not exist in a view, such as a clipboard, does nothing: it need not be implemented.
    """

    unsupported: frozenset[str]
    """Slash commands that make no sense here."""
    themes: Sequence[str]
    """The colour themes; none where there is no choice."""

    def show(self, event: Event) -> None:
        """Draw what happened; a PromptAdded comes before the turn it starts."""
        ...

    def say(self, markdown: str) -> None:
        """Show a text of the program's own."""
        ...

    def notify(self, text: str) -> None:
        """Show a line that goes away by itself, where there is such a thing."""
        return

    def refresh(self) -> None:
        """Something changed that a status line shows: busy or idle, queue, mode, model, cost."""
        return

    def replay(self, events: Sequence[Event]) -> None:
        """Draw what happened before this session was resumed."""
        return

    def reset(self, events: Sequence[Event]) -> None:
        """Start over on an empty screen, with these events of the past."""
        return

    def prefill(self, text: str) -> None:
        """Put a text into the prompt for the user to edit."""
        return

    def copy(self, text: str) -> None:
        """Put a text on the clipboard."""
        return

    def show_help(self, commands: "Sequence[Command]") -> None:
        """Show keys and commands."""
        return

    def use_theme(self, name: str) -> None:
        """Change the colour theme to one of `themes`."""
        return

    def leave(self) -> None:
        """End the program, or go to the session in `Controller.following`."""
        return

    async def ask(self, request: Request) -> RequestAnswer:
        """Put a request of the session to the user; cancelled when it is withdrawn."""
        ...

    async def choose(self, menu: Menu) -> str:
        """Let the user choose; the id of the option."""
        ...

    async def choose_session(self, words: str) -> "Resume | None":
        """Let the user choose a session to resume, of those that contain these words, if any."""
        ...
