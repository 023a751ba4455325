"""A tiny app around the prompt and the modals."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Static

from agent_cli.controller.slash_command import Command
from agent_cli.frontends import tui
from agent_cli.frontends.shared.typed_ahead import TypedAhead
from agent_cli.frontends.tui import themes
from agent_cli.frontends.tui.composer import Composer
from agent_cli.frontends.tui.modals.guarded_modal import GuardedModal
from agent_cli.frontends.tui.prompt import Prompt
from agent_cli.frontends.tui.status import Status
from tests.kit.shells import until

HERE = Path(tui.__file__).parent
COMMANDS = tuple(
    Command(name=name, help=does, argument=argument, run=lambda *_: None)
    for name, does, argument in (
        ("help", "keys and commands", ""),
        ("model", "use another model", "[name]"),
        ("mode", "how much happens without a question", "<mode>"),
        ("quit", "leave", ""),
    )
)


class Host(App[None]):
    """Composes what is under test and keeps every message it gets."""

    CSS_PATH: ClassVar = [HERE / "composer.tcss", HERE / "modals" / "modals.tcss"]
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self, root: Path = Path(), *, history: Sequence[str] = (), theme: str = "agent-dark"
    ) -> None:
        super().__init__()
        themes.register(self)
        self.theme = theme
        self.composer = Composer(root, commands=lambda: COMMANDS, history=lambda: history)
        self.sent: list[Prompt.Submitted] = []
        self.heard: list[str] = []
        self.answers: list[object] = []

    def compose(self) -> ComposeResult:
        yield Static("transcript", markup=False)
        yield self.composer

    def on_mount(self) -> None:
        self.composer.status.status = Status(model="claude-sonnet-4-5", context=0.21, cost=0.04)

    @property
    def prompt(self) -> Prompt:
        return self.composer.prompt

    def ask(self, modal: Screen[object]) -> None:
        """Show a modal; its answer goes to `answers`."""
        self.push_screen(modal, self.answers.append)

    def on_prompt_submitted(self, event: Prompt.Submitted) -> None:
        self.sent.append(event)

    def on_prompt_submitted_empty(self) -> None:
        self.heard.append("empty")

    def on_prompt_escaped(self) -> None:
        self.heard.append("escaped")

    def on_prompt_cancelled_empty(self) -> None:
        self.heard.append("cancelled")

    def on_guarded_modal_typed(self, event: GuardedModal.Typed) -> None:
        self.prompt.receive(event.key, event.text)


def at_once() -> TypedAhead:
    """A guard for tests that are not about it."""
    return TypedAhead(arm=0.0, settle=0.001)


def not_yet() -> TypedAhead:
    """A guard for tests of what is pressed too early, however slow the machine is."""
    return TypedAhead(arm=3600.0)


async def readable(app: Host, pilot: Pilot[None]) -> None:
    """Wait until the modal is on the screen: before that, no key answers it."""
    await until(lambda: isinstance(app.screen, GuardedModal) and app.screen.guard.is_painted)
    await pilot.pause()


def screen_text(app: App[None]) -> str:
    """What stands on the screen, line by line."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


async def type_text(pilot: Pilot[None], text: str) -> None:
    """Type a text of plain characters."""
    for character in text:
        await pilot.press("space" if character == " " else character)
