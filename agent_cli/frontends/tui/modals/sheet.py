"""A scrolling sheet of lines and labelled rows, wrapped to its width."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

_MIN_VALUE_WIDTH = 24


@dataclass(frozen=True)
class SheetLines:
    """Text that must stand exactly as it is: long lines are cut into pieces, nothing is lost."""

    content: Content


@dataclass(frozen=True)
class Prose:
    """Text that is read: lines are wrapped between words."""

    content: Content


@dataclass(frozen=True)
class SheetRow:
    """A label and what it says, wrapped between words beside it."""

    label: Content
    value: Content
    column: int = 15
    """Where the value starts; below the label when there is not enough room beside it."""


@dataclass(frozen=True)
class Space:
    """An empty line."""


Part = SheetLines | Prose | SheetRow | Space


class Sheet(ScrollView, can_focus=False):
    """Draws parts; only the lines in view cost anything."""

    class Scrolled(Message):
        """The visible part changed."""

    def __init__(self, parts: Sequence[Part], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._parts = tuple(parts)
        self._lines: tuple[Content, ...] = ()
        self._wrapped_at = -1

    def show(self, parts: Sequence[Part]) -> None:
        self._parts = tuple(parts)
        self._wrapped_at = -1
        self.refresh(layout=True)

    @property
    def is_at_end(self) -> bool:
        return self.scroll_offset.y >= self.max_scroll_y

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._wrap(width))

    def on_resize(self) -> None:
        width = self.scrollable_content_region.width
        self.virtual_size = Size(width, len(self._wrap(width)))

    def watch_scroll_y(self, old: float, new: float) -> None:
        super().watch_scroll_y(old, new)
        self.post_message(self.Scrolled())

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        lines = self._wrap(width)
        index = y + self.scroll_offset.y
        if not 0 <= index < len(lines):
            return Strip.blank(width, self.rich_style)
        line = lines[index]
        strip = Strip(line.render_segments(self.visual_style), line.cell_length)
        return strip.adjust_cell_length(width, self.rich_style)

    def _wrap(self, width: int) -> tuple[Content, ...]:
        if width != self._wrapped_at:
            self._wrapped_at = width
            self._lines = tuple(wrap_parts(self._parts, width))
        return self._lines


def wrap_parts(parts: Iterable[Part], width: int) -> Iterator[Content]:
    """The parts as lines of at most `width` cells."""
    width = max(width, 4)
    for part in parts:
        match part:
            case Space():
                yield Content("")
            case SheetLines():
                for line in part.content.split("\n", allow_blank=True):
                    yield from [line] if line.cell_length <= width else line.fold(width)
            case Prose():
                for line in part.content.split("\n", allow_blank=True):
                    yield from line.wrap(width) or [line]
            case SheetRow():
                yield from _beside(part, width)


def _beside(part: SheetRow, width: int) -> Iterator[Content]:
    column = part.column
    if part.label.cell_length >= column or width - column < _MIN_VALUE_WIDTH:
        yield from part.label.wrap(width)
        if part.value:
            below = part.value.wrap(max(width - 4, 2))
            yield from (Content.assemble("    ", line) for line in below)
        return
    for number, line in enumerate(part.value.wrap(width - column) or [Content("")]):
        before = part.label.pad_right(column - part.label.cell_length) if not number else None
        yield Content.assemble(before or " " * column, line)
