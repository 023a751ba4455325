"""A change to a file, line by line or side by side."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rich.style import Style
from textual.strip import Strip

from agent_cli.core.display import DiffBlock
from agent_cli.frontends.tui.appearance import Appearance
from agent_cli.frontends.tui.displays.output_display import MAX_LINES, omission_line
from agent_cli.frontends.tui.highlight import highlight, language_of
from agent_cli.frontends.tui.styled_lines import Line, Span, crop, indent_lines, width_of, wrap
from agent_cli.safety.sanitise import clean

SIDE_BY_SIDE = 140
"""From this width on old and new stand beside each other."""
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,\d{1,9})? \+(\d{1,9})(?:,\d{1,9})? @@")
_MAX_PREVIEW_LINES = 10


@dataclass(frozen=True)
class DiffRow:
    """A line of a diff; kind is " ", "-", "+", or "@" for what is no line of the file."""

    kind: str
    old: int
    new: int
    text: str


def diff_lines(block: DiffBlock, width: int, look: Appearance) -> Sequence[Strip]:
    rows = _rows(block.diff)
    paint = _Paint(rows[:MAX_LINES], language_of(block.path), look)
    lines = paint.side_by_side(width) if width >= SIDE_BY_SIDE else paint.draw_unified(width)
    return [*lines, omission_line(len(rows) - MAX_LINES, look)] if len(rows) > MAX_LINES else lines


def diff_preview(block: DiffBlock, width: int, look: Appearance) -> list[Strip]:
    """A few lines from where the change begins, one row each."""
    rows = _rows(block.diff)
    changed = [number for number, row in enumerate(rows) if row.kind in "+-"]
    if not changed:
        return []
    start = max(0, changed[0] - 1)
    if rows[start].kind == "@":
        start += 1
    end = min(changed[-1] + 1, start + _MAX_PREVIEW_LINES)
    lines = _Paint(rows[start:end], language_of(block.path), look).draw_unified(width, one_row=True)
    more = sum(1 for number in changed if number >= end)
    return [*lines, omission_line(more, look)] if more else lines


class _Paint:
    def __init__(self, rows: Sequence[DiffRow], language: str, look: Appearance) -> None:
        self.rows = rows
        self.look = look
        self.colours = _colours(rows, language, look)
        self.room = len(str(max((max(row.old, row.new) for row in rows), default=0)))

    def draw_unified(self, width: int, *, one_row: bool = False) -> list[Strip]:
        lines: list[Strip] = []
        for position, row in enumerate(self.rows):
            if row.kind == "@":
                lines.append(Line([(row.text, self.look.styles.dim)]))
                continue
            before, style = self._before(row)
            spans = self.colours[position]
            if one_row:
                spans = crop(spans, width - width_of(before), self.look.signs.ellipsis)
            own = wrap(spans, width, first=before, rest=_blank(before))
            lines += _fill_width(own, style, width)
        return lines

    def side_by_side(self, width: int) -> list[Strip]:
        middle: list[Span] = [(f" {self.look.signs.bar} ", self.look.styles.dim)]
        half = (width - 3) // 2
        lines: list[Strip] = []
        for left, right in _pairs(self.rows):
            if left is not None and self.rows[left].kind == "@":
                lines.append(Line([(self.rows[left].text, self.look.styles.dim)]))
                continue
            one, other = self._side(left, half, "-"), self._side(right, half, "+")
            for old, new in zip_longest(one, other, fillvalue=Line([(" " * half, None)])):
                before = [(segment.text, segment.style) for segment in old]
                lines += indent_lines([new], [*before, *middle])
        return lines

    def _side(self, position: int | None, width: int, kind: str) -> list[Strip]:
        if position is None:
            return []
        before, style = self._before(self.rows[position], kind)
        lines = wrap(self.colours[position], width, first=before, rest=_blank(before))
        return _fill_width(lines, style, width, always=True)

    def _before(self, row: DiffRow, side: str = "+") -> tuple[list[Span], Style | None]:
        styles, signs = self.look.styles, self.look.signs
        number = row.old if row.kind == "-" or (row.kind == " " and side == "-") else row.new
        sign, style, colour = {
            "+": ("+", styles.added, styles.success),
            "-": (signs.minus, styles.removed, styles.failure),
        }.get(row.kind, (" ", None, None))
        return [(f"{number:>{self.room}} ", styles.dim), (f"{sign} ", colour)], style


def _rows(diff: str) -> list[DiffRow]:
    rows: list[DiffRow] = []
    old = new = 0
    in_hunk = False
    for line in clean(diff).split("\n"):
        if hunk := _HUNK.match(line):
            old, new = int(hunk[1]), int(hunk[2])
            if in_hunk:
                rows.append(DiffRow("@", 0, 0, "⋯"))
            in_hunk = True
        elif not in_hunk or not line:
            continue
        elif line[0] in "+- ":
            rows.append(DiffRow(line[0], old, new, line[1:]))
            old += line[0] != "+"
            new += line[0] != "-"
        else:
            rows.append(DiffRow("@", 0, 0, line))
    return rows


def _colours(rows: Sequence[DiffRow], language: str, look: Appearance) -> list[list[Span]]:
    """Each side is coloured as a text of its own, so that neither spoils the other."""
    found: list[list[Span]] = [[] for _ in rows]
    for side in ("-", "+"):
        places = [n for n, row in enumerate(rows) if row.kind in {" ", side}]
        code = "\n".join(rows[n].text for n in places)
        for place, spans in zip(places, highlight(code, language, look), strict=False):
            found[place] = spans
    return found


def _pairs(rows: Sequence[DiffRow]) -> Iterator[tuple[int | None, int | None]]:
    """Which rows stand beside each other: what was taken out with what came instead."""
    position = 0
    while position < len(rows):
        if rows[position].kind in "@ ":
            yield position, position
            position += 1
        removed: list[int] = []
        added: list[int] = []
        while position < len(rows) and rows[position].kind in "+-":
            (removed if rows[position].kind == "-" else added).append(position)
            position += 1
        yield from zip_longest(removed, added)


def _blank(spans: Sequence[Span]) -> list[Span]:
    return [(" " * width_of(spans), None)]


def _fill_width(
    lines: Sequence[Line], style: Style | None, width: int, *, always: bool = False
) -> list[Strip]:
    """Lines on the background of their kind, over the whole width."""
    if style is None and not always:
        return list(lines)
    filled: list[Strip] = []
    for line in lines:
        padding = " " * max(0, width - line.cell_length)
        spans = [(s.text, style + (s.style or Style.null()) if style else s.style) for s in line]
        filled.append(Line([*spans, (padding, style)], gutter=line.gutter, joint=line.joint))
    return filled
