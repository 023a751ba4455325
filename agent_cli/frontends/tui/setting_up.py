"""The setup on a screen: a list to filter, a line to type on, and what was found."""

import asyncio
import os
from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option as Item

from agent_cli.frontends.tui import themes
from agent_cli.frontends.tui.guarded_app import run_in_background
from agent_cli.frontends.tui.ink import MUTED
from agent_cli.frontends.tui.modals.line import Line
from agent_cli.lib.language import mark, tr
from agent_cli.safety.sanitise import visible
from agent_cli.setup.model_choice import ModelChoice
from agent_cli.setup.setup_flow import Option, set_up
from agent_cli.setup.setup_service import SetupService

MAX_MESSAGES = 8
"""Lines of what was said that stay on the screen."""
_MOVES: dict[str, Callable[[OptionList], None]] = {
    "up": OptionList.action_cursor_up,
    "down": OptionList.action_cursor_down,
    "pageup": OptionList.action_page_up,
    "pagedown": OptionList.action_page_down,
}
_CHOOSE = mark("↑↓ choose · enter confirm · type to filter · esc back")
_TYPE = mark("enter confirm · esc back")
_WAIT = mark("esc leave")


async def ask_on_screen(desk: SetupService) -> ModelChoice | None:
    """Ask; None if the user left."""
    answer = await SetupApp(desk).run_async()
    return answer if isinstance(answer, ModelChoice) else None


class SetupApp(App[ModelChoice]):
    """The setup by itself."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, desk: SetupService) -> None:
        super().__init__()
        themes.register(self)
        self.theme = themes.by_terminal(os.environ)
        self._screen = SetupScreen(desk)

    def on_mount(self) -> None:
        self.push_screen(self._screen, self.exit)


class SetupScreen(Screen[ModelChoice | None]):
    """Asks what the setup asks: see `setup_flow.SetupDialog`."""

    CSS_PATH: ClassVar = "setting_up.tcss"
    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c,ctrl+q", "dismiss", show=False, priority=True),
        Binding("escape", "go_back", show=False, priority=True),
    ]

    def __init__(self, desk: SetupService) -> None:
        super().__init__()
        self._desk = desk
        self._heading = Static(markup=False, id="heading")
        self._line = Line()
        self._list = OptionList(id="options")
        self._told = Static(markup=False, id="told")
        self._hint = Static(markup=False, id="hint")
        self._said: list[str] = []
        self._options: Sequence[Option] = ()
        self._takes_text = False
        self._answer: asyncio.Future[str | None] | None = None

    async def choose(
        self, heading: str, options: Sequence[Option], *, other: str = ""
    ) -> str | None:
        """The id of an option, or what was typed where that may be."""
        self._options, self._takes_text = options, bool(other)
        filtering = tr("type to filter, or {other}", other=other) if other else tr("type to filter")
        return await self._ask(heading, filtering, _CHOOSE)

    async def ask_line(self, heading: str) -> str | None:
        self._options, self._takes_text = (), True
        return await self._ask(heading, "", _TYPE)

    async def ask_secret(self, heading: str) -> str | None:
        """A line that shows as dots."""
        self._options, self._takes_text = (), True
        self._line.password = True
        try:
            return await self._ask(heading, tr("hidden while you type"), _TYPE)
        finally:
            self._line.password = False

    async def confirm(self, question: str) -> bool:
        """Yes or no; no is what Enter says."""
        no, yes = Option("no", tr("No")), Option("yes", tr("Yes"))
        return await self.choose(question, [no, yes]) == yes.id

    def say(self, text: str, *, passing: bool = False) -> None:
        """Tell how things stand; `passing`: only until there is something else to say or ask."""
        lines = [*self._said, visible(text)][-MAX_MESSAGES:]
        self._told.update(Content("\n".join(lines)))
        if not passing:
            self._said = lines

    async def _ask(self, heading: str, placeholder: str, hint: str) -> str | None:
        self._heading.update(Content(visible(heading, one_line=True)))
        self._told.update(Content("\n".join(self._said)))
        self._line.placeholder = placeholder
        self._line.value = ""
        self._fill("")
        self._show(asks=True, hint=hint)
        self._answer = asyncio.get_running_loop().create_future()
        try:
            return await self._answer
        finally:
            self._answer = None
            self._line.value = ""
            self._show(asks=False, hint=_WAIT)

    def _show(self, *, asks: bool, hint: str) -> None:
        self._heading.display = self._line.display = asks
        self._list.display = asks and bool(self._options)
        self._hint.update(Content.styled(tr(hint), MUTED))
        if asks:
            self._line.focus()

    def _fill(self, words: str) -> None:
        texts = ((each, f"{each.label} {each.detail}".lower()) for each in self._options)
        fitting = [each for each, text in texts if all(w in text for w in words.lower().split())]
        width = max((cell_len(_label(option)) for option in fitting), default=0)
        self._list.clear_options()
        self._list.add_options([Item(_draw_option(option, width), option.id) for option in fitting])
        self._list.highlighted = 0 if fitting else None

    def _give(self, answer: str | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(answer)

    def compose(self) -> ComposeResult:
        with Vertical(id="setup"):
            yield Static("agent setup", markup=False, id="name")
            yield from (self._heading, self._line, self._list, self._told, self._hint)

    def on_mount(self) -> None:
        self._show(asks=False, hint=_WAIT)
        run_in_background(self, self._play, tr("The setup failed"))

    async def _play(self) -> None:
        self.dismiss(await set_up(self._desk, self))

    def on_input_changed(self, event: Input.Changed) -> None:
        if self._options:
            self._fill(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        picked = self._list.highlighted_option if self._options else None
        if picked is not None:
            self._give(picked.id)
        elif self._takes_text and event.value.strip():
            self._give(event.value.strip())

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self._give(event.option_id)

    def on_key(self, event: events.Key) -> None:
        """The caret stays on the line; the keys that move in a list move in the list."""
        if self._options and event.key in _MOVES:
            event.stop()
            event.prevent_default()
            _MOVES[event.key](self._list)

    def action_go_back(self) -> None:
        if self._answer is None:
            self.dismiss(None)
        else:
            self._give(None)


def _draw_option(option: Option, width: int) -> Content:
    label = _label(option)
    gap = " " * (width - cell_len(label) + 2)
    return Content.assemble(label, gap, (visible(option.detail, one_line=True), MUTED))


def _label(option: Option) -> str:
    return visible(option.label, one_line=True)
