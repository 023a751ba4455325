"""The transcript: all blocks of the chat in one widget, and what the user can do with them."""

from pathlib import Path
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Offset
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip

from agent_cli.frontends.tui.appearance import COMPONENTS
from agent_cli.frontends.tui.bindings import bindings
from agent_cli.frontends.tui.blocks.base_block import Block
from agent_cli.frontends.tui.blocks.notice_block import ErrorBlock
from agent_cli.frontends.tui.column import LinePosition
from agent_cli.frontends.tui.column_view import ColumnView
from agent_cli.frontends.tui.selecting import copy_selection, paint_selection
from agent_cli.lib.language import tr


class Transcript(ColumnView, can_focus=True):
    """Blocks, finished and live, that can be read, unfolded, selected and copied."""

    ALLOW_SELECT = True
    FOCUS_ON_CLICK = False
    COMPONENT_CLASSES: ClassVar[set[str]] = COMPONENTS
    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")
    BINDINGS: ClassVar[list[BindingType]] = bindings("transcript")

    _selected: int | None = None
    _pressed: Offset | None = None

    class RetryAsked(Message):
        """The user wants to retry the failed turn."""

    @property
    def selected(self) -> Block | None:
        """The block the keys act upon."""
        return None if self._selected is None else self.blocks[self._selected]

    def clear(self) -> None:
        self._selected = None
        self._forget_selection()
        super().clear()

    def toggle(self, block: Block) -> None:
        """Show more of a block, or less; its first line stays where it is, if it is visible."""
        index = self._column.index_of(block)
        if index is None or not block.can_fold:
            return
        held = self._anchor()
        if held.number == index and held.offset > 0:
            held = LinePosition(index, 0)
        block.toggle()
        self._forget_selection()
        self._column.refresh(block)
        self._settle(held)
        self.refresh()

    def action_fold(self) -> None:
        """Show more or less of the selected block."""
        self._select_any()
        if self.selected is not None:
            self.toggle(self.selected)

    def action_fold_all(self) -> None:
        """Unfold all blocks; fold them if all are unfolded."""
        foldable = [block for block in self.blocks if block.can_fold]
        unfold = not all(block.expanded for block in foldable)
        held = self._anchor()
        for block in foldable:
            if block.expanded is not unfold:
                block.toggle()
        self._forget_selection()
        self._column.mark_all()
        self._settle(LinePosition(held.number, min(held.offset, 0)))
        self.refresh()

    def action_follow(self) -> None:
        """Go to the end and stay there."""
        self._follow(following=True)
        self._settle()
        self.refresh()

    def action_retry(self) -> None:
        self._select_any()
        if any(isinstance(block, ErrorBlock) for block in (self.selected, *self.blocks[-1:])):
            self.post_message(self.RetryAsked())

    def action_select(self, by: int) -> None:
        """Select the next block above or below; a block taller than the view is scrolled first."""
        if not self.blocks:
            return
        index = self._last_visible() if self._selected is None else self._selected
        top = self._column.heights.top(index)
        bottom = top + self._column.heights[index]
        view = self.scroll_offset.y
        if (by < 0 and top < view < bottom) or (by > 0 and top < view + self.size.height < bottom):
            self.scroll_to(y=view + by, animate=False)
            return
        self._select(max(0, min(len(self.blocks) - 1, index + by)))
        self._show_selected()

    def render_line(self, y: int) -> Strip:
        line = self.scroll_offset.y + y
        strip = self._line(y)
        if self._selected is not None and self.has_focus:
            place = self._column.place(line)
            if place and place.number == self._selected and place.offset >= 0:
                strip = self._with_cursor(strip, signed=place.offset == 0)
        selection = self.text_selection
        if selection is not None and (span := selection.get_span(line)) is not None:
            style = self.screen.get_component_rich_style("screen--selection")
            strip = paint_selection(strip, span, style)
        strip = strip.apply_offsets(0, line)
        return self._with_hint(strip) if self.has_unseen and y == self.size.height - 1 else strip

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return copy_selection(self._column.strip, selection, self._column.heights.total), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

    def on_resize(self) -> None:
        self._forget_selection()

    def on_focus(self) -> None:
        self._select_any()
        self._refresh_selected()

    def on_blur(self) -> None:
        self._refresh_selected()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._pressed = event.screen_offset

    def on_click(self, event: events.Click) -> None:
        if self._pressed != event.screen_offset:
            return  # text was selected
        if self.has_unseen and event.y == self.size.height - 1 and event.x >= self._hint_start:
            self.action_follow()
            return
        place = self._column.place(self.scroll_offset.y + event.y)
        if place is None or place.offset < 0:
            return
        self._select(place.number)
        block = self.blocks[place.number]
        # In an unfolded block a click may be the beginning of a selection.
        if place.offset == 0 or not block.expanded:
            self.toggle(block)

    @property
    def _hint(self) -> str:
        return tr(" {sign} new ", sign=self._column.look.signs.down)

    @property
    def _hint_start(self) -> int:
        return max(0, self.size.width - cell_len(self._hint) - 1)

    def _with_hint(self, strip: Strip) -> Strip:
        hint = Segment(self._hint, self._column.look.styles.hint)
        end = self._hint_start + cell_len(self._hint)
        return Strip([*strip.crop(0, self._hint_start), hint, *strip.crop(end)])

    def _with_cursor(self, strip: Strip, *, signed: bool) -> Strip:
        """The line of the selected block: on a background, which not every terminal can show."""
        look = self._column.look
        if signed and strip.text.startswith(" "):
            sign = Segment(look.signs.cursor, self._base + look.styles.accent)
            strip = Strip([sign, *strip.crop(1)])
        under = look.styles.cursor
        return Strip([s._replace(style=(s.style or Style.null()) + under) for s in strip])

    def _select(self, index: int) -> None:
        self._refresh_selected()
        self._selected = index
        self._refresh_selected()

    def _select_any(self) -> None:
        if self._selected is None and self.blocks:
            self._select(self._last_visible())

    def _refresh_selected(self) -> None:
        if self._selected is not None:
            heights = self._column.heights
            self.refresh_lines(heights.top(self._selected), heights[self._selected])

    def _show_selected(self) -> None:
        assert self._selected is not None
        heights, view = self._column.heights, self.scroll_offset.y
        top, height = heights.top(self._selected), heights[self._selected]
        if top < view or height >= self.size.height:
            self.scroll_to(y=top, animate=False)
        elif top + height > view + self.size.height:
            self.scroll_to(y=top + height - self.size.height, animate=False)

    def _last_visible(self) -> int:
        shown = self._column.visible(self.scroll_offset.y, self.size.height)
        return shown[-1] if shown else len(self.blocks) - 1

    def _forget_selection(self) -> None:
        """Lines have moved: what was selected is elsewhere now."""
        if self.is_attached and self.text_selection is not None:
            self.screen.clear_selection()
