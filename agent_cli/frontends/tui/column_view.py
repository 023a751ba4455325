"""A widget that shows a column of blocks and stays where the user looks."""

import contextlib
import time
from collections.abc import Iterator, Sequence

from rich.style import Style
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from agent_cli.frontends.tui.appearance import Appearance
from agent_cli.frontends.tui.blocks.base_block import Block
from agent_cli.frontends.tui.column import Column, ColumnChange, LinePosition

_BETWEEN = 0.05
"""Seconds between two drawings of what changed: more often is not seen."""
_AT_LEISURE = 4
"""Drawing rests this many times as long as it took, so that one huge block cannot take it all."""
_SLICE = 0.008
_BETWEEN_SLICES = 0.02
_AFTER_A_KEY = 0.5
"""Seconds without a key before heights are counted on: nobody waits for that while typing."""
_BETWEEN_USES = 1.0
"""New heights above move the view, and so cost a drawing of all of it."""
_TICK = 0.2
_CALM_TICK = 1.0


class ColumnView(ScrollView):
    """Costs what is visible or has changed, not what there is.

    Nothing here lays out the screen: new heights go to the scroll bar alone, and only lines that
    differ are drawn.
    """

    def __init__(self, *, reduced_motion: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self._column = Column()
        self._tick_s = _CALM_TICK if reduced_motion else _TICK
        self.following = True
        """Whether the view stays at the end when something is added."""
        self.blocks: Sequence[Block] = self._column.blocks
        """All blocks, oldest first."""
        self._moving = False
        self._unseen = False
        self._is_filling = False
        self._live: set[Block] = set()
        self._flushing: Timer | None = None
        self._counting: Timer | None = None
        self._ticking: Timer | None = None
        self._rest_until = 0.0
        self._count_from = 0.0
        self._count_used = 0.0
        self._base = Style.null()

    @property
    def has_unseen(self) -> bool:
        """Whether something came in below what is visible."""
        return self._unseen and not self.following

    def add(self, block: Block) -> None:
        self._column.add(block)
        self.refresh_block(block)

    @contextlib.contextmanager
    def filling(self) -> Iterator[None]:
        """Put many blocks at the end, to be drawn when all are there."""
        self._is_filling = True
        try:
            yield
        finally:
            self._is_filling = False
            if self.blocks:
                self.refresh_block(self.blocks[-1])

    def refresh_block(self, block: Block) -> None:
        """A block's content changed; it is drawn again with the next flush."""
        index = self._column.index_of(block)
        if index is None:
            return
        self._column.refresh(block)
        if self._is_filling:
            return
        heights, bottom = self._column.heights, self.scroll_offset.y + self.size.height
        if not self.following and heights.top(index) + heights[index] > bottom:
            self._unseen = True
        self._watch_time(block)
        self._flush_soon()

    def clear(self) -> None:
        self._column.clear()
        self._live.clear()
        self._follow(following=True)
        if self.is_attached:
            self._resize_column()
            self.refresh()

    def flush(self) -> None:
        """Draw what changed, now."""
        if self._flushing is not None:
            self._flushing.stop()
            self._flushing = None
        if not self.is_mounted or not self.size:
            return
        started = time.perf_counter()
        self._settle()
        took = time.perf_counter() - started
        self._rest_until = started + max(_BETWEEN, took * (1 + _AT_LEISURE))

    def count_all(self) -> None:
        """Find out all heights now, instead of little by little."""
        self._column.count_some(float("inf"))
        self._use_counted()

    def let_keys_through(self) -> None:
        """Somebody types: what can wait does."""
        self._count_from = time.monotonic() + _AFTER_A_KEY

    def on_mount(self) -> None:
        self._ticking = self.set_interval(self._tick_s, self._tick, pause=True)
        self._watch_time(None)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        if self.is_mounted:
            # Textual says this before the component classes have their new colours.
            self.call_later(self._reshape)

    def on_resize(self) -> None:
        self._reshape()
        self._settle()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if not self._moving and self.is_mounted:
            self._follow(following=round(new_value) >= self.max_scroll_y)
            self._settle()

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows as they are: there is no border or padding that Textual could add."""
        filters, background = self.get_line_filters(), self.background_colors[1]
        strips = []
        for y in crop.line_range:
            strip = self.render_line(y).crop_extend(*crop.column_span, self._base)
            for line_filter in filters:
                strip = strip.apply_filter(line_filter, background)
            strips.append(strip)
        return strips

    def _line(self, y: int) -> Strip:
        """A row of the view in its own colours, without anything on top of it."""
        base = self._base
        strip = self._column.strip(self.scroll_offset.y + y)
        if strip is None:
            return Strip.blank(self.size.width, base)
        return strip.crop_extend(0, self.size.width, base).apply_style(base)

    def _follow(self, *, following: bool) -> None:
        self.following = following
        self._unseen = self._unseen and not following

    def _anchor(self) -> LinePosition:
        """What stands at the top of the view and must stay there."""
        return self._column.place(self.scroll_offset.y) or LinePosition(0, 0)

    def _reshape(self) -> None:
        """Take over another width or theme; what is visible is drawn first."""
        if not self.size:
            return
        self._base = self.rich_style  # to work it out for each line would cost more than the line
        look = Appearance.of(self, no_color=self.app.no_color)
        width = self.scrollable_content_region.width
        if (width, look) != (self._column.width, self._column.look):
            held = self._anchor()
            self._column.reshape(width, look)
            self._settle(held)
            self.refresh()

    def _settle(self, held: LinePosition | None = None) -> None:
        """Draw what is stale and visible, and keep the view where it was, or at the end."""
        held = held or self._anchor()
        column, height = self._column, self.size.height
        changes: list[ColumnChange] = []
        while True:
            shown = column.visible(self._wanted_line(held), height)
            drawn = [change for index in shown if (change := column.settle(index))]
            if not drawn:
                break
            changes += drawn
        self._show(self._wanted_line(held), changes)
        self._count_soon()

    def _wanted_line(self, held: LinePosition) -> int:
        heights = self._column.heights
        last = max(0, heights.total - self.size.height)
        if self.following or not len(heights):
            return last
        below_gap = 0 if held.offset < 0 else self._column.gap_above(held.number) + held.offset
        return max(0, min(last, heights.top(held.number) + below_gap))

    def _show(self, line: int, changes: Sequence[ColumnChange]) -> None:
        before = self.scroll_offset.y
        self._resize_column()
        self._moving = True
        self.scroll_to(y=line, animate=False, force=True)
        self._moving = False
        if self.scroll_offset.y != before:
            return  # all of it is drawn anyway
        bottom = before + self.size.height
        for first, last, moved in changes:
            start, end = max(first, before), min(bottom if moved else last, bottom)
            if end > start:
                self.refresh_lines(start, end - start)
        if self.has_unseen:
            self.refresh_lines(bottom - 1)

    def _resize_column(self) -> None:
        """Tell the scroll bar. Assigning `virtual_size` would lay out the whole screen."""
        size = Size(self._column.width, self._column.heights.total)
        if size != self.virtual_size:
            self.set_reactive(Widget.virtual_size, size)
            self._moving = True
            self._scroll_update(size)
            self._moving = False

    def _flush_soon(self) -> None:
        if self._flushing is None and self.is_attached:
            wait = max(0.001, self._rest_until - time.perf_counter())
            self._flushing = self.set_timer(wait, self.flush)

    def _count_some(self) -> None:
        """Find out true heights while there is nothing else to do."""
        self._counting = None
        now = time.monotonic()
        if now < self._count_from:
            self._count_soon(self._count_from - now)
            return
        self._column.count_some(_SLICE)
        if self._column.is_counted or now > self._count_used + _BETWEEN_USES:
            self._count_used = now
            self._use_counted()
        else:
            self._count_soon()

    def _use_counted(self) -> None:
        held = self._anchor()
        self._column.use_counted()
        self._settle(held)

    def _count_soon(self, wait: float = _BETWEEN_SLICES) -> None:
        if self._column.has_stale and self._counting is None:
            self._counting = self.set_timer(wait, self._count_some)

    def _watch_time(self, block: Block | None) -> None:
        if block is not None and block.ticks:
            self._live.add(block)
        if self._ticking is not None:
            (self._ticking.resume if self._live else self._ticking.pause)()

    def _tick(self) -> None:
        shown = self._column.visible(self.scroll_offset.y, self.size.height)
        for block in list(self._live):
            if not block.ticks:
                self._live.discard(block)
            elif self._column.index_of(block) in shown:
                self._column.refresh(block)
        self._watch_time(None)
        self._flush_soon()
