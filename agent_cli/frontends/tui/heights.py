"""Where each block of a long column begins."""

from bisect import bisect_right
from itertools import accumulate


class Heights:
    """The heights of blocks and their running sums, which are added up again only when asked for.

    To append is cheap, and so are many changes in a row.
    """

    def __init__(self) -> None:
        self._heights: list[int] = []
        self._tops: list[int] = []
        self._sure = 0
        """How many of the sums are right."""
        self.total = 0

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    def append(self, height: int) -> None:
        if self._sure == len(self._heights):
            self._sure += 1
        self._heights.append(height)
        self._tops.append(self.total)
        self.total += height

    def change(self, index: int, height: int) -> None:
        """A block grew or shrank, and all after it moved."""
        by = height - self._heights[index]
        if by:
            self._heights[index] = height
            self._sure = min(self._sure, index + 1)
            self.total += by

    def top(self, index: int) -> int:
        self._add_up()
        return self._tops[index]

    def at(self, line: int) -> int:
        """The block in which a line is; of blocks without height never one."""
        self._add_up()
        return max(0, bisect_right(self._tops, line) - 1)

    def clear(self) -> None:
        self._heights.clear()
        self._tops.clear()
        self._sure = self.total = 0

    def _add_up(self) -> None:
        if self._sure < len(self._heights):
            last = max(0, self._sure - 1)
            start = self._tops[last] if self._sure else 0
            self._tops[last:] = accumulate(self._heights[last:-1], initial=start)
            self._sure = len(self._heights)
