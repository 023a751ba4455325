"""Large pastes, kept beside the text and named in it: `[120 lines pasted #1]`."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from agent_cli.lib.language import tr

MAX_LINES = 10
_MAX_CHARS = 2_000


@dataclass(frozen=True)
class Chip:
    """Where a chip stands in a line, and what it stands for."""

    start: int
    end: int
    text: str


class Chips:
    """The pastes of one prompt."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        """What stands for each chip."""
        self._numbers = itertools.count(1)

    def add(self, text: str) -> str:
        """The chip that stands for a text from now on."""
        chip = tr("[{size} pasted #{number}]", size=_size(text), number=next(self._numbers))
        self._texts[chip] = text
        return chip

    def expand(self, text: str) -> str:
        """The text with each chip replaced; what a paste says about chips is left alone."""
        parts, end = [], 0
        for found in self._find(text):
            parts += [text[end : found.start()], self._texts[found[0]]]
            end = found.end()
        return "".join([*parts, text[end:]])

    def at(self, line: str, column: int) -> Chip | None:
        """The chip that a caret is in, or touches."""
        for found in self._find(line):
            if found.start() <= column <= found.end():
                return Chip(found.start(), found.end(), self._texts[found[0]])
        return None

    def _find(self, text: str) -> Iterator[re.Match[str]]:
        if self._texts:
            yield from re.finditer("|".join(map(re.escape, self._texts)), text)


def deserves_chip(text: str) -> bool:
    """Whether a paste would bury the prompt."""
    return len(text) > _MAX_CHARS or text.count("\n") >= MAX_LINES


def _size(text: str) -> str:
    lines = text.count("\n") + (not text.endswith("\n"))
    if lines > MAX_LINES:
        return tr("{n:,} lines", n=lines)
    size = len(text.encode("utf-8", "replace"))
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"
