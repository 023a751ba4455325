"""Where each block of a long column begins."""

from bisect import bisect_right


class Heights:
    """The heights of blocks and their running sums; the end of the column is cheap to change."""

    def __init__(self) -> None:
        self._heights: list[int] = []
        self._tops: list[int] = []
        self.total = 0

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    def append(self, height: int) -> None:
        """One more block at the end."""
        self._heights.append(height)
        self._tops.append(self.total)
        self.total += height

    def change(self, index: int, height: int) -> None:
        """A block grew or shrank, and all after it moved."""
        by = height - self._heights[index]
        if not by:
            return
        self._heights[index] = height
        self._tops[index + 1 :] = [top + by for top in self._tops[index + 1 :]]
        self.total += by

    def top(self, index: int) -> int:
        """The line at which a block begins."""
        return self._tops[index]

    def at(self, line: int) -> int:
        """The block in which a line is; of blocks without height never one."""
        return max(0, bisect_right(self._tops, line) - 1)

    def clear(self) -> None:
        """No blocks."""
        self._heights.clear()
        self._tops.clear()
        self.total = 0
