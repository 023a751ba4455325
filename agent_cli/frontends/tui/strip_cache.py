"""The lines of the blocks that were shown last."""

from collections import OrderedDict
from collections.abc import Sequence

from textual.strip import Strip


class StripCache:
    """Keeps about `limit` lines: blocks far from what is shown keep only their source."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: OrderedDict[int, Sequence[Strip]] = OrderedDict()
        self._lines = 0

    def get(self, index: int) -> Sequence[Strip] | None:
        """The lines of a block, if they are still here."""
        strips = self._kept.get(index)
        if strips is not None:
            self._kept.move_to_end(index)
        return strips

    def peek(self, index: int) -> Sequence[Strip]:
        """The same without counting as a use; empty if they are gone."""
        return self._kept.get(index, ())

    def put(self, index: int, strips: Sequence[Strip]) -> None:
        """Keep a block's lines; the oldest make room."""
        self.drop(index)
        self._kept[index] = strips
        self._lines += len(strips)
        while self._lines > self._limit and len(self._kept) > 1:
            self.drop(next(iter(self._kept)))

    def drop(self, index: int) -> None:
        self._lines -= len(self._kept.pop(index, ()))

    def clear(self) -> None:
        self._kept.clear()
        self._lines = 0
