"""Tables, todo lists and pictures that a tool shows."""

from collections.abc import Sequence

from textual.strip import Strip

from agent_cli.core.display import ImageBlock, TableBlock, TodoBlock
from agent_cli.frontends.tui.appearance import Appearance
from agent_cli.frontends.tui.styled_lines import Line, Span, wrap
from agent_cli.frontends.tui.table_lines import Cell, table
from agent_cli.safety.sanitise import clean

_MAX_CELL_CHARS = 400


def table_lines(block: TableBlock, width: int, look: Appearance) -> Sequence[Strip]:
    """Columns with figures to the right."""
    heading = [Cell([(_cell(name), look.styles.strong)]) for name in block.columns]
    rows = [[Cell([(t := _cell(text), None)], _is_figure(t)) for text in r] for r in block.rows]
    for number, cell in enumerate(heading):
        right = bool(rows) and all(row[number].right for row in rows if number < len(row))
        heading[number] = Cell(cell.spans, right)
    return table([heading, *rows], width, look)


def todo_lines(block: TodoBlock, width: int, look: Appearance) -> Sequence[Strip]:
    """Each entry with a sign for its state; what is being done stands out."""
    signs, styles = look.signs, look.styles
    marks = {
        "pending": (signs.open_item, None, None),
        "in_progress": (signs.current_item, styles.accent, styles.strong),
        "completed": (signs.done_item, styles.success, styles.dim),
    }
    lines: list[Strip] = []
    for item in block.items:
        mark, colour, style = marks[item.status]
        first: list[Span] = [(f"{mark} ", colour)]
        rest: list[Span] = [(" " * (len(mark) + 1), None)]
        lines += wrap([(_cell(item.text), style)], width, first=first, rest=rest)
    return lines


def image_lines(block: ImageBlock, width: int, look: Appearance) -> Sequence[Strip]:
    """What picture it is."""
    size = f" {block.width}×{block.height}" if block.width and block.height else ""
    text = f"{_cell(block.path)}  {_cell(block.media_type)}{size}"
    return [*wrap([(text, look.styles.dim)], width)] or [Line(())]


def _cell(text: str) -> str:
    return clean(text[:_MAX_CELL_CHARS]).replace("\n", " ")


def _is_figure(text: str) -> bool:
    return text.replace(",", "").replace(".", "").strip().isdigit()
