"""The line of a tool call: state, tool, main argument, result, time."""

from typing import Literal, NamedTuple

from rich.cells import cell_len

from agent_cli.controller.wording import duration
from agent_cli.frontends.tui.appearance import ROW, Appearance
from agent_cli.frontends.tui.blocks.base_block import EDGE, MARGIN
from agent_cli.frontends.tui.styled_lines import Line, Span, crop, shorten

WIDE = 76
"""From this width on results stand in a column of their own."""
_WITH_TIME = 44
_TIME_COLUMN = 8
_NAME_COLUMN = 5
_MAX_NAME_CHARS = 28
_MIN_NAME_CHARS = 10
_MIN_ARGUMENT_CHARS = 12


class Head(NamedTuple):
    """What the line says."""

    state: Literal["running", "asking", "done", "failed"]
    tool: str
    argument: str
    status: str
    seconds: float
    depth: int = 0


def head_line(head: Head, width: int, look: Appearance) -> Line:
    """The line, never wider than `width`. The main argument is what gives way last."""
    width = min(width, ROW) - EDGE
    styles = look.styles
    sign, colour = {
        "running": (look.signs.running, styles.waiting),
        "asking": (look.signs.asking, styles.waiting),
        "done": (look.signs.done, styles.success),
        "failed": (look.signs.failed, styles.failure),
    }[head.state]
    longest = max(_MIN_NAME_CHARS, min(_MAX_NAME_CHARS, width // 4))
    name = shorten(head.tool, longest, look.signs.ellipsis)
    name += " " * max(0, _NAME_COLUMN - cell_len(name)) + "  "
    left: list[Span] = [*MARGIN, ("  " * head.depth, None), (f"{sign} ", colour)]
    used = sum(cell_len(text) for text, _ in left) + cell_len(name)
    time = f"  {duration(head.seconds)}" if width >= _WITH_TIME else ""
    room = max(0, width - used - max(cell_len(time), _TIME_COLUMN if time else 0))
    argument, status = _middle(head, room, used, width, look)
    gap = " " * max(0, width - used - cell_len(argument) - cell_len(status) - cell_len(time))
    kind = {"asking": styles.waiting, "failed": styles.failure}.get(head.state, styles.dim)
    spans: list[Span] = [
        *left,
        (name, styles.strong),
        (argument, None),
        (status, kind),
        (gap if time else "", None),
        (time, styles.dim),
    ]
    return Line(crop(spans, max(1, width), look.signs.ellipsis), gutter=2)


def _middle(head: Head, room: int, used: int, width: int, look: Appearance) -> tuple[str, str]:
    """The argument and the result, in columns when there is room for them."""
    ellipsis = look.signs.ellipsis
    argument, status = head.argument, head.status.replace("\n", " ")
    is_crowded = width < WIDE and cell_len(argument) + cell_len(status) + 2 > room
    if not status or (is_crowded and head.state != "asking"):
        return shorten(argument, room, ellipsis), ""
    column = max(_MIN_ARGUMENT_CHARS, width // 2 - used) if width >= WIDE else 0
    shown = shorten(status, max(room // 2, room - max(column, cell_len(argument)) - 2), ellipsis)
    argument = shorten(argument, max(0, room - cell_len(shown) - 2), ellipsis)
    padding = " " * max(2, column - cell_len(argument))
    if cell_len(argument) + len(padding) + cell_len(shown) > room:
        padding = "  "
    return argument, padding + shown
