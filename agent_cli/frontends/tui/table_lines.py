"""Tables that fit the width they get."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual.strip import Strip

from agent_cli.frontends.tui.appearance import Appearance
from agent_cli.frontends.tui.styled_lines import Line, Span, part, plain, width_of, wrap
from agent_cli.frontends.tui.styled_lines import cuts as line_cuts

_GAP = 2
_MIN_WIDTH = 4


@dataclass(frozen=True)
class Cell:
    """What stands in one place of a table."""

    spans: Sequence[Span]
    right: bool = False


def table(rows: Sequence[Sequence[Cell]], width: int, look: Appearance) -> list[Strip]:
    """A heading row, a rule, and the others; cells wrap when the columns do not fit."""
    if not rows or not rows[0]:
        return []
    widths = _widths(rows, width)
    if sum(widths) + _GAP * (len(widths) - 1) > width:
        return _records(rows, width, look)
    lines: list[Strip] = list(_row(rows[0], widths))
    rules = (" " * _GAP).join(look.signs.rule * size for size in widths)
    lines.append(Line([(rules, look.styles.dim)]))
    for row in rows[1:]:
        lines += _row(row, widths)
    return lines


def _widths(rows: Sequence[Sequence[Cell]], width: int) -> list[int]:
    """Each column as wide as it likes; if that is too much, the widest give first."""
    columns = len(rows[0])
    liked = [
        max(1, *(width_of(row[column].spans) for row in rows if column < len(row)), 1)
        for column in range(columns)
    ]
    spare = width - _GAP * (columns - 1)
    while sum(liked) > spare:
        widest = max(range(columns), key=liked.__getitem__)
        if liked[widest] <= _MIN_WIDTH:
            break
        others = max((size for size in liked if size < liked[widest]), default=_MIN_WIDTH)
        over = -(-(sum(liked) - spare) // liked.count(liked[widest]))
        liked[widest] = max(_MIN_WIDTH, others, liked[widest] - over)
        if others == liked[widest]:
            liked[widest] = max(_MIN_WIDTH, liked[widest] - 1)
    return liked


def _row(row: Sequence[Cell], widths: Sequence[int]) -> list[Line]:
    cells = [
        [part(cell.spans, start, end) for start, end, _ in line_cuts(plain(cell.spans), size)]
        for cell, size in zip(row, widths, strict=False)
    ]
    lines = []
    for number in range(max(len(cell) for cell in cells)):
        spans: list[Span] = []
        for column, cell in enumerate(cells):
            own = cell[number] if number < len(cell) else []
            padding = " " * max(0, widths[column] - width_of(own))
            gap = " " * _GAP if column < len(cells) - 1 else ""
            padded = [(padding, None), *own] if row[column].right else [*own, (padding, None)]
            spans += [*padded, (gap, None)]
        lines.append(Line(spans))
    return lines


def _records(rows: Sequence[Sequence[Cell]], width: int, look: Appearance) -> list[Strip]:
    """Too many columns for the width: one line for each cell instead."""
    heading = rows[0]
    lines: list[Strip] = []
    for row in rows[1:] or rows[:1]:
        for name, cell in zip(heading, row, strict=False):
            label: list[Span] = [(f"{plain(name.spans)}: ", look.styles.dim)]
            lines += wrap([*label, *cell.spans], width, rest=[("  ", None)])
    return lines
