"""Large pastes, kept beside the text and named in it: `[120 lines pasted #1]`."""

import itertools
import re
from dataclasses import dataclass

_CHIP = re.compile(r"\[(?:[\d,]+ lines|[\d.]+ [kM]B) pasted #(\d+)\]")
MOST_LINES = 10
_MOST_CHARACTERS = 2_000


@dataclass(frozen=True)
class Chip:
    """Where a chip stands in a line, and what it stands for."""

    start: int
    end: int
    text: str


class Chips:
    """The pastes of one prompt."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}
        self._numbers = itertools.count(1)

    def add(self, text: str) -> str:
        """The chip that stands for a text from now on."""
        number = next(self._numbers)
        self._texts[number] = text
        return f"[{_size(text)} pasted #{number}]"

    def expand(self, text: str) -> str:
        """The text with each chip replaced; what a paste says about chips is left alone."""
        return _CHIP.sub(lambda found: self._texts.get(int(found[1]), found[0]), text)

    def at(self, line: str, column: int) -> Chip | None:
        """The chip that a caret is in, or touches."""
        for found in _CHIP.finditer(line):
            if found.start() <= column <= found.end() and int(found[1]) in self._texts:
                return Chip(found.start(), found.end(), self._texts[int(found[1])])
        return None


def deserves_chip(text: str) -> bool:
    """Whether a paste would bury the prompt."""
    return len(text) > _MOST_CHARACTERS or text.count("\n") >= MOST_LINES


def _size(text: str) -> str:
    lines = text.count("\n") + (not text.endswith("\n"))
    if lines > MOST_LINES:
        return f"{lines:,} lines"
    size = len(text.encode("utf-8", "replace"))
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"
