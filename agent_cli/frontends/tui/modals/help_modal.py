"""Keys and commands, on one sheet."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from agent_cli.frontends.shared.keys import help_rows
from agent_cli.frontends.tui.modals.sheet import Part, Prose, Sheet, SheetRow, Space
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import visible

Pairs = Sequence[tuple[str, str]]


class HelpModal(ModalScreen[None]):
    """Any of Esc, Enter and q closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,q,f1", "dismiss", "Close", show=False),
        Binding("down,j", "scroll(1)", show=False),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("pagedown,space", "scroll(10)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
    ]
    AUTO_FOCUS = ""
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (80, "-wide")]  # noqa: RUF012 - as declared
    VERTICAL_BREAKPOINTS = [(0, "-short"), (26, "-tall")]  # noqa: RUF012 - as declared

    def __init__(self, commands: Pairs) -> None:
        super().__init__()
        parts = [*_parts(tr("Keys"), help_rows()), Space(), *_parts(tr("Commands"), commands)]
        self._sheet = Sheet(parts)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = Content.styled(tr("Help"), "bold")
            yield self._sheet
            yield Static(Content(tr("esc close")), classes="hint", markup=False)

    def on_resize(self) -> None:
        self._sheet.styles.max_height = max(self.app.size.height - 5, 3)

    def action_scroll(self, lines: int) -> None:
        self._sheet.scroll_relative(y=lines, animate=False)


def _parts(title: str, rows: Pairs) -> Iterator[Part]:
    yield Prose(Content.styled(title, "bold"))
    for name, text in rows:
        label = Content.styled(visible(name, one_line=True), "$accent")
        yield SheetRow(label, Content(visible(text, one_line=True)), 18)
