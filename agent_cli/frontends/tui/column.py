"""The blocks of a chat as one long column of lines, of which only what is looked at is drawn."""

import heapq
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from textual.strip import Strip

from agent_cli.frontends.tui.appearance import Appearance
from agent_cli.frontends.tui.blocks.base_block import Block
from agent_cli.frontends.tui.heights import Heights
from agent_cli.frontends.tui.strip_cache import StripCache
from agent_cli.frontends.tui.styled_lines import BLANK, same_start

_KEPT_LINES = 1_500


class LinePosition(NamedTuple):
    """A line of the column as a line of a block."""

    number: int
    """Which block it is."""
    offset: int


class ColumnChange(NamedTuple):
    """Lines of the column that differ now, and by how much those below moved."""

    first: int
    last: int
    moved: int


class Column:
    """Blocks, their heights, and the lines of a few of them.

    A block whose lines are not known for the present width is stale: it stands with a guessed or
    its former height until somebody looks at it or there is time to count.
    """

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.heights = Heights()
        self.width = 80
        self.look = Appearance()
        self._index: dict[Block, int] = {}
        self._cache = StripCache(_KEPT_LINES)
        self._stale: set[int] = set()
        self._queue: list[int] = []
        self._counted: dict[int, int] = {}

    @property
    def has_stale(self) -> bool:
        """Whether some heights are still guesses."""
        return bool(self._stale)

    @property
    def is_counted(self) -> bool:
        """Whether nothing is left to count."""
        return not self._queue

    def add(self, block: Block) -> int:
        """One more block; it is not drawn yet."""
        index = len(self.blocks)
        self.blocks.append(block)
        self._index[block] = index
        self.heights.append(block.guess_height(self.width) + self._gap(index))
        self._mark(index)
        return index

    def clear(self) -> None:
        self.blocks.clear()
        self.heights.clear()
        self._index.clear()
        self.mark_all()

    def index_of(self, block: Block) -> int | None:
        """Where a block stands; None if it is not here."""
        return self._index.get(block)

    def refresh(self, block: Block) -> None:
        """The block's content is another; its old lines stay until it is drawn again."""
        if (index := self._index.get(block)) is not None:
            self._mark(index)

    def reshape(self, width: int, look: Appearance) -> None:
        """All blocks are to be drawn again, when their turn comes."""
        rewrapped = width != self.width or look.signs != self.look.signs
        self.width, self.look = width, look
        self._cache.clear()
        if rewrapped:
            self.mark_all()

    def mark_all(self) -> None:
        """Every block may look different now."""
        self._cache.clear()
        self._counted.clear()
        self._stale = set(range(len(self.blocks)))
        self._queue = [-index for index in reversed(range(len(self.blocks)))]

    def visible(self, line: int, height: int) -> range:
        """The blocks of which something is between two lines."""
        if not self.blocks or height <= 0:
            return range(0)
        last = self.heights.at(min(line + height, self.heights.total) - 1)
        return range(self.heights.at(line), last + 1)

    def place(self, line: int) -> LinePosition | None:
        """Which block's line this is; the offset is negative in the gap above a block."""
        if not 0 <= line < self.heights.total:
            return None
        index = self.heights.at(line)
        return LinePosition(index, line - self.heights.top(index) - self.gap_above(index))

    def strip(self, line: int) -> Strip | None:
        """One line, as wide as it is; None below the end."""
        place = self.place(line)
        if place is None:
            return None
        strips = self._cache.get(place.number)
        if strips is None:
            strips = self._draw(place.number)
        return strips[place.offset] if 0 <= place.offset < len(strips) else BLANK

    def settle(self, index: int) -> ColumnChange | None:
        """Draw a stale block and note its true height."""
        if index not in self._stale:
            return None
        self._stale.discard(index)
        self._counted.pop(index, None)
        old, was = self._cache.peek(index), self.heights[index]
        strips = self._draw(index)
        height = self._measure(index, len(strips))
        top = self.heights.top(index)
        start = top + height - len(strips) + (same_start(old, strips) if was and old else 0)
        return ColumnChange(start if height == was or old else top, top + height, height - was)

    def count_some(self, seconds: float, clock: Callable[[], float] = time.perf_counter) -> None:
        """Count the lines of stale blocks for a short while, the last blocks first."""
        end = clock() + seconds
        while self._queue and clock() < end:
            index = -heapq.heappop(self._queue)
            if index in self._stale and index not in self._counted:
                self._counted[index] = len(self.blocks[index].render(self.width, self.look))

    def use_counted(self) -> None:
        """Take over what was counted: blocks move, so this is not done for each of them."""
        for index, lines in self._counted.items():
            self._stale.discard(index)
            self._cache.drop(index)
            self._measure(index, lines)
        self._counted.clear()

    def _draw(self, index: int) -> Sequence[Strip]:
        strips = self.blocks[index].render(self.width, self.look)
        self._cache.put(index, strips)
        return strips

    def _measure(self, index: int, lines: int) -> int:
        height = lines + self._gap(index) if lines else 0
        self.heights.change(index, height)
        return height

    def _gap(self, index: int) -> int:
        return int(index > 0 and not self.blocks[index].stands_with(self.blocks[index - 1]))

    def gap_above(self, index: int) -> int:
        """Blank lines between a block and the one before; part of its height."""
        return self._gap(index) if self.heights[index] else 0

    def _mark(self, index: int) -> None:
        if index not in self._stale or self._counted.pop(index, None) is not None:
            self._stale.add(index)
            heapq.heappush(self._queue, -index)
