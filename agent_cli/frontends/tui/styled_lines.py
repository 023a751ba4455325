"""Styled text put into lines of a given width."""

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import NamedTuple

from rich.cells import cell_len, split_graphemes
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

Span = tuple[str, Style | None]
Spans = Sequence[Span]

_NEVER_FIRST = frozenset("，。、；：！？）］｝〉》」』】〕…—")
"""What no line of Chinese begins with."""
_MAX_PART_CHARS = 12
"""Characters of a word or folder that are dropped rather than shown in part."""


class Line(Strip):
    """A line on the screen that knows which part of it is text, so that it can be copied."""

    __slots__ = ("gutter", "joint")

    def __init__(self, spans: Spans, *, gutter: int = 0, joint: str | None = None) -> None:
        super().__init__([Segment(text, style) for text, style in spans if text])
        self.gutter = gutter
        """How many characters at the left are decoration."""
        self.joint = joint
        """What stood between the line before and this one, if both are one line of the text."""


class Cut(NamedTuple):
    """A piece of a longer line, and what stood before it."""

    start: int
    end: int
    joint: str | None


BLANK = Line(())


def width_of(spans: Spans) -> int:
    """How many cells the spans take."""
    return sum(cell_len(text) for text, _ in spans)


def plain(spans: Spans) -> str:
    return "".join(text for text, _ in spans)


def wrap(spans: Spans, width: int, *, first: Spans = (), rest: Spans | None = None) -> list[Line]:
    """One line of text as lines no wider than `width`; `first` and `rest` decorate their left."""
    rest = first if rest is None else rest
    room = max(1, width - max(width_of(first), width_of(rest)))
    lines = []
    for number, (start, end, joint) in enumerate(cuts(plain(spans), room)):
        before = rest if number else first
        gutter = sum(len(text) for text, _ in before)
        lines.append(Line([*before, *part(spans, start, end)], gutter=gutter, joint=joint))
    return lines


def indent_lines(lines: Iterable[Strip], first: Spans, rest: Spans | None = None) -> list[Strip]:
    """Lines with a decoration at their left; `rest` for all but the first, when it differs."""
    rest = first if rest is None else rest
    shifted: list[Strip] = []
    for number, line in enumerate(lines):
        before = rest if number else first
        spans = [*before, *((segment.text, segment.style) for segment in line)]
        gutter = sum(len(text) for text, _ in before)
        if isinstance(line, Line):
            gutter += line.gutter
        shifted.append(Line(spans, gutter=gutter, joint=getattr(line, "joint", None)))
    return shifted


def part(spans: Spans, start: int, end: int) -> list[Span]:
    """The spans between two positions in their text."""
    found: list[Span] = []
    for text, style in spans:
        if end <= 0:
            break
        if start < len(text):
            found.append((text[max(start, 0) : end], style))
        start -= len(text)
        end -= len(text)
    return found


def split_lines(spans: Spans) -> list[list[Span]]:
    """The spans cut at their line breaks."""
    lines: list[list[Span]] = [[]]
    for text, style in spans:
        first, *others = text.split("\n")
        if first:
            lines[-1].append((first, style))
        lines.extend([(other, style)] if other else [] for other in others)
    return lines


def crop(spans: Spans, width: int, ellipsis: str = "…") -> list[Span]:
    """The spans, ended by an ellipsis if they are too wide."""
    if width_of(spans) <= width:
        return list(spans)
    end = fitting(plain(spans), max(0, width - cell_len(ellipsis)))
    return [*part(spans, 0, end), (ellipsis[: max(0, width)], None)]


def shorten(text: str, width: int, ellipsis: str = "…") -> str:
    """The text with its middle left out if it is too wide; its two ends say the most."""
    if cell_len(text) <= width:
        return text
    room = width - cell_len(ellipsis)
    if room < 4:
        return plain(crop([(text, None)], width, ellipsis))
    mark = " " if " " in text else "/"
    tail = text[len(text) - fitting(text[::-1], room * 2 // 3) :]
    at = tail.find(mark)
    tail = tail[at:] if 0 <= at < _MAX_PART_CHARS and at + 1 < len(tail) else tail
    head = text[: fitting(text, room - cell_len(tail))]
    at = head.rfind(mark)
    # "src/…/auth.py" reads better than "src/on…/auth.py".
    head = head[: at + 1] if at >= 0 and len(head) - at < _MAX_PART_CHARS else head
    return head + ellipsis + tail


def cut_middle(text: str, width: int) -> str:
    """The text with its middle left out, wherever that is: paths differ at their ends."""
    if cell_len(text) <= width or width < 8:
        return text
    half = width // 2
    return f"{text[: fitting(text, half - 1)]}…{text[len(text) - fitting(text[::-1], half) :]}"


def cuts(text: str, width: int) -> list[Cut]:
    """Where to break a line: at spaces, between Chinese characters, else wherever it must be."""
    if cell_len(text) <= width:
        return [Cut(0, len(text), None)]
    return _ascii_cuts(text, width) if text.isascii() else _cell_cuts(text, width)


def _ascii_cuts(text: str, width: int) -> list[Cut]:
    found: list[Cut] = []
    start, joint = 0, None
    first_word = len(text) - len(text.lstrip(" "))
    while len(text) - start > width:
        end = text.rfind(" ", max(start, first_word) + 1, start + width + 1)
        if end < 0:
            end = start + width
        found.append(Cut(start, end, joint))
        after = end
        while after < len(text) and text[after] == " ":
            after += 1
        start, joint = after, text[end:after]
    if start < len(text) or not found:
        found.append(Cut(start, len(text), joint))
    return found


def _cell_cuts(text: str, width: int) -> list[Cut]:
    graphemes, _ = split_graphemes(text)
    found: list[Cut] = []
    first, joint = 0, None
    while first < len(graphemes):
        end, used = first, 0
        while end < len(graphemes) and used + graphemes[end][2] <= width:
            used += graphemes[end][2]
            end += 1
        start = graphemes[first][0]
        if end == len(graphemes):
            return [*found, Cut(start, len(text), joint)]
        end = max(end, first + 1)
        end = next((at for at in range(end, first, -1) if _may_break(text, graphemes, at)), end)
        if end == len(graphemes):
            return [*found, Cut(start, len(text), joint)]
        at = graphemes[end][0]
        stop = start + len(text[start:at].rstrip(" "))
        stop = at if stop == start else stop  # an indent is not cut off
        while end < len(graphemes) and _is_space(text, graphemes[end]):
            end += 1
        again = graphemes[end][0] if end < len(graphemes) else len(text)
        found.append(Cut(start, stop, joint))
        first, joint = end, text[stop:again]
    return found


def _may_break(text: str, graphemes: Sequence[tuple[int, int, int]], at: int) -> bool:
    """Whether a line may end before this grapheme."""
    if at == len(graphemes):
        return True
    before, here = graphemes[at - 1], graphemes[at]
    if _is_space(text, here) or _is_space(text, before):
        return True
    return 2 in {before[2], here[2]} and text[here[0]] not in _NEVER_FIRST


def _is_space(text: str, grapheme: tuple[int, int, int]) -> bool:
    """A space that carries a mark is more than a space: it must not be lost at a line's end."""
    return text[grapheme[0] : grapheme[1]] == " "


def fitting(text: str, width: int) -> int:
    """How many characters of the text fit."""
    if text.isascii():
        return max(0, min(len(text), width))
    used = 0
    for start, _, cells in split_graphemes(text)[0]:
        used += cells
        if used > width:
            return start
    return len(text)


def same_start(old: Sequence[Strip], new: Sequence[Strip]) -> int:
    """How many lines at the beginning are the very same objects."""
    pairs = zip(old, new, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], pairs))
