"""Exact replacement in text: where a passage stands, and what takes its place."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_BREAK = re.compile("\r?\n")


@dataclass(frozen=True)
class TextMatch:
    """A passage of a text."""

    start: int
    end: int


class Passages:
    """A text in which passages are looked up.

    A line break in a passage stands for LF and CRLF alike, everything else for itself.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.plain = text.replace("\r\n", "\n")
        """The text with LF alone."""
        # Where, in the plain text, a line break has lost its CR.
        self._lost = [found.start() - i for i, found in enumerate(re.finditer("\r\n", text))]

    def find(self, wanted: str, *, overlapping: bool = False) -> Iterator[TextMatch]:
        """The places where the passage stands, in order."""
        wanted = wanted.replace("\r\n", "\n")
        position = self.plain.find(wanted)
        while position >= 0:
            end = position + len(wanted)
            yield TextMatch(self._in_text(position), self._in_text(end))
            position = self.plain.find(wanted, position + 1 if overlapping else end)

    def _in_text(self, position: int) -> int:
        return position + bisect_left(self._lost, position)


def replace_matches(text: str, matches: Iterable[TextMatch], new: str) -> str:
    """The text with each passage replaced; line breaks take the form of those around them."""
    parts: list[str] = []
    done = 0
    for match in matches:
        parts += text[done : match.start], _in_breaks_of(text, match, new)
        done = match.end
    parts.append(text[done:])
    return "".join(parts)


class LineNumbers:
    """Which line a position of a text is on."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def at(self, position: int) -> int:
        """The number of the line, from 1."""
        return bisect_right(self._starts, position)


def _in_breaks_of(text: str, match: TextMatch, new: str) -> str:
    """The new passage with the line breaks of what it replaces, or of its surroundings.

    Lines that stay the same keep exactly what they had, also where LF and CRLF are mixed.
    """
    if "\n" not in new:
        return new
    old_breaks = _BREAK.findall(text, match.start, match.end)
    old_lines = _BREAK.split(text[match.start : match.end])
    new_lines = _BREAK.split(new)
    count = len(new_lines) - 1
    head = _same(old_lines, new_lines, min(count, len(old_breaks)))
    tail = _same(old_lines[::-1], new_lines[::-1], min(count, len(old_breaks)) - head)
    middle = old_breaks[head : len(old_breaks) - tail]
    usual = old_breaks[0] if old_breaks else _break_near(text, match)
    wanted = count - head - tail
    middle = (middle + [middle[-1] if middle else usual] * wanted)[:wanted]
    breaks = [*old_breaks[:head], *middle, *old_breaks[len(old_breaks) - tail :], ""]
    return "".join(line + line_break for line, line_break in zip(new_lines, breaks, strict=True))


def _same(one: list[str], other: list[str], most: int) -> int:
    count = 0
    while count < most and one[count] == other[count]:
        count += 1
    return count


def _break_near(text: str, match: TextMatch) -> str:
    """The line break after the passage, or the last one before it."""
    if after := _BREAK.search(text, match.end):
        return after.group()
    position = text.rfind("\n", 0, match.start)
    return "\r\n" if position > 0 and text[position - 1] == "\r" else "\n"
