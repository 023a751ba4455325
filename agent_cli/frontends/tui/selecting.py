"""Selected text in lines: how it is shown and what is copied."""

from collections.abc import Callable

from rich.cells import cell_len
from rich.style import Style
from textual.selection import Selection
from textual.strip import Strip

from agent_cli.frontends.tui.styled_lines import Line


def paint_selection(strip: Strip, span: tuple[int, int], style: Style) -> Strip:
    """The line with the characters from one position to another selected; -1 is the end."""
    text = strip.text.rstrip()
    start, end = span
    from_cell = cell_len(text[:start])
    to_cell = cell_len(text) if end == -1 else cell_len(text[:end])
    if from_cell >= to_cell:
        return strip
    before, chosen, *after = strip.divide([from_cell, to_cell, strip.cell_length])
    # The text keeps its own colour: that of the selection may be no colour at all.
    under = Style(bgcolor=style.bgcolor)
    lit = Strip([s._replace(style=(s.style or Style.null()) + under) for s in chosen])
    return Strip.join([before, lit, *after])


def copy_selection(line_at: Callable[[int], Strip | None], selection: Selection, total: int) -> str:
    """The selected text: without bars and indents, and with broken lines whole again."""
    first = selection.start.y if selection.start else 0
    last = min(selection.end.y if selection.end else total - 1, total - 1)
    text = ""
    for number in range(first, last + 1):
        line = line_at(number)
        span = selection.get_span(number)
        if line is None or span is None:
            continue
        piece = _piece(line, *span)
        joint = line.joint if isinstance(line, Line) else None
        text += piece if number == first else f"{chr(10) if joint is None else joint}{piece}"
    return text


def _piece(line: Strip, start: int, end: int) -> str:
    gutter = line.gutter if isinstance(line, Line) else 0
    text = line.text if end == -1 else line.text[:end]
    return text[max(start, gutter) :].rstrip()
