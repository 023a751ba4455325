"""A view without a screen: it keeps what it is shown and answers as it is told to."""

import asyncio
from collections.abc import Callable, Sequence

from agent_cli.commands import all_commands
from agent_cli.controller.controller import Controller
from agent_cli.controller.requests import refusal
from agent_cli.controller.slash_command import Command
from agent_cli.controller.view import Menu
from agent_cli.core.events import Event, Notice
from agent_cli.core.inbox import Request, RequestAnswer
from agent_cli.core.session import Session
from agent_cli.launch_options import Resume
from tests.kit.shells import until

Answering = Callable[[Request], RequestAnswer | None]


class FakeView:
    """What a test reads and says instead of a user at a screen."""

    unsupported: frozenset[str] = frozenset()
    themes: Sequence[str] = ("dark", "light")

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.said: list[str] = []
        self.past: list[Event] = []
        self.copied: list[str] = []
        self.prefilled: list[str] = []
        self.helped: list[str] = []
        self.menus: list[Menu] = []
        self.asked: list[Request] = []
        self.withdrawn: list[Request] = []
        self.has_left = False
        self.breaks_on: type[Event] | None = None
        """The event that cannot be drawn."""
        self.answer: Answering = refusal
        """The answer to a request; None: it waits."""
        self.choices: list[str] = []
        """The answers to menus, in order; then whatever leaves the menu."""
        self.theme = ""

    @property
    def notices(self) -> list[str]:
        """What the user was told, in order."""
        return [event.text for event in self.events if isinstance(event, Notice)]

    def show(self, event: Event) -> None:
        self.events.append(event)
        if self.breaks_on is not None and isinstance(event, self.breaks_on):
            raise RuntimeError("this view cannot draw that")

    def say(self, markdown: str) -> None:
        self.said.append(markdown)

    def notify(self, text: str) -> None:
        self.said.append(text)

    def refresh(self) -> None:
        """There is no status line."""

    def replay(self, events: Sequence[Event]) -> None:
        self.past = list(events)

    def reset(self, events: Sequence[Event]) -> None:
        self.events.clear()
        self.past = list(events)

    def prefill(self, text: str) -> None:
        self.prefilled.append(text)

    def copy(self, text: str) -> None:
        self.copied.append(text)

    def show_help(self, commands: Sequence[Command]) -> None:
        self.helped = [command.name for command in commands]

    def use_theme(self, name: str) -> None:
        self.theme = name

    def leave(self) -> None:
        self.has_left = True

    async def ask(self, request: Request) -> RequestAnswer:
        self.asked.append(request)
        try:
            await until(lambda: self.answer(request) is not None)
        except asyncio.CancelledError:
            self.withdrawn.append(request)
            raise
        return self.answer(request) or refusal(request)

    async def choose(self, menu: Menu) -> str:
        self.menus.append(menu)
        return self.choices.pop(0) if self.choices else menu.leave

    async def choose_session(self, words: str) -> Resume | None:
        return Resume(words) if words else None


def controlled(session: Session) -> tuple[Controller, FakeView]:
    """A controller of a session, with every command, and its view."""
    view = FakeView()
    return Controller(session, view, commands=all_commands()), view
