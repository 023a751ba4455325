"""The list that completes what is being typed."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.geometry import Offset
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from agent_cli.controller.wording import number_of
from agent_cli.frontends.tui.ink import FAINT, MUTED
from agent_cli.frontends.tui.styled_lines import cut_middle
from agent_cli.safety.sanitise import visible

_MAX_ROWS = 8


@dataclass(frozen=True)
class Completing:
    """Something that can be chosen."""

    label: str
    value: str
    """What choosing it puts into the prompt."""
    help: str = ""
    takes_more: bool = False
    """After it more has to be typed, so choosing it does not send."""


class Completion(Widget):
    """Stands above the prompt, over everything else, without moving any of it."""

    class Clicked(Message):
        """The user clicked an entry."""

    items: reactive[tuple[Completing, ...]] = reactive(())
    cursor: reactive[int] = reactive(0)

    @property
    def is_open(self) -> bool:
        return bool(self.items)

    @property
    def current(self) -> Completing | None:
        return self.items[self.cursor] if self.items else None

    def show(self, items: Sequence[Completing]) -> None:
        """Offer these, the first one chosen; nothing to offer closes the list."""
        if tuple(items) != self.items:
            self.cursor = 0
            self.items = tuple(items)

    def close(self) -> None:
        self.items = ()

    def move(self, step: int) -> None:
        if self.items:
            self.cursor = (self.cursor + step) % len(self.items)

    def watch_items(self, items: tuple[Completing, ...]) -> None:
        rows = min(len(items), _MAX_ROWS) + (len(items) > _MAX_ROWS)
        self.display = bool(items)
        self.styles.height = max(rows, 1)
        self.styles.offset = Offset(0, -rows)

    def render(self) -> Content:
        return render_list(self.items, self.cursor, self.content_size.width)

    def on_click(self, event: events.Click) -> None:
        event.stop()
        row = _first(len(self.items), self.cursor) + event.y
        if row < len(self.items) and event.y < _MAX_ROWS:
            self.cursor = row
            self.post_message(self.Clicked())


def render_list(items: Sequence[Completing], cursor: int, width: int) -> Content:
    """The rows around the cursor, helps aligned in a column, and how many there are."""
    first = _first(len(items), cursor)
    shown = items[first : first + _MAX_ROWS]
    labels = [cut_middle(visible(item.label, one_line=True), width - 2) for item in shown]
    column = min(max((cell_len(label) for label in labels), default=0) + 3, max(width // 2, 12))
    lines = []
    for number, (item, label) in enumerate(zip(shown, labels, strict=True), first):
        chosen = number == cursor
        line = Content.assemble(
            ("▸ " if chosen else "  ", "$accent"), (label, "bold" if chosen else "")
        )
        if item.help:
            gap = " " * max(column + 2 - line.cell_length, 2)
            line = Content.assemble(line, gap, (visible(item.help, one_line=True), MUTED))
        lines.append(line.truncate(width, ellipsis=True) if line.cell_length > width else line)
    if len(items) > _MAX_ROWS:
        lines.append(Content.styled(f"  {number_of(cursor + 1, len(items))}", FAINT))
    return Content("\n").join(lines)


def _first(count: int, cursor: int) -> int:
    return min(max(cursor - _MAX_ROWS // 2, 0), max(count - _MAX_ROWS, 0))
