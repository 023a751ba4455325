"""What a tool shows, block by block, as lines."""

from collections.abc import Sequence
from typing import assert_never

from textual.strip import Strip

from agent_cli.core.display import (
    DiffBlock,
    Display,
    ImageBlock,
    TableBlock,
    TerminalBlock,
    TextBlock,
    TodoBlock,
)
from agent_cli.frontends.tui.displays.diff import diff_lines
from agent_cli.frontends.tui.displays.output import output_lines, source_lines
from agent_cli.frontends.tui.displays.small import image_lines, table_lines, todo_lines
from agent_cli.frontends.tui.look import Look
from agent_cli.lib.text import head_and_tail

MOST_CHARACTERS = 40_000
"""What is kept for the screen of one text a tool gives; the session keeps the rest."""
MOST_ROWS = 400

_GAP = "… {left_out:,} characters are not shown"


def display_lines(display: Display, width: int, look: Look) -> Sequence[Strip]:
    """Everything that is kept of it."""
    match display:
        case TextBlock():
            return source_lines(display, width, look)
        case DiffBlock():
            return diff_lines(display, width, look)
        case TerminalBlock():
            return output_lines(display.output, width, look)
        case TableBlock():
            return table_lines(display, width, look)
        case TodoBlock():
            return todo_lines(display, width, look)
        case ImageBlock():
            return image_lines(display, width, look)
        case _:
            assert_never(display)


def bounded(display: Display) -> Display:
    """The same with no more than the screen needs."""
    match display:
        case TextBlock(text=text) if len(text) > MOST_CHARACTERS:
            return display.model_copy(update={"text": bounded_text(text)})
        case DiffBlock(diff=diff) if len(diff) > MOST_CHARACTERS:
            shown = diff[:MOST_CHARACTERS].rpartition("\n")[0]
            return display.model_copy(update={"diff": f"{shown}\n…"})
        case TerminalBlock(output=output, command=command) if (
            len(output) + len(command) > MOST_CHARACTERS
        ):
            return display.model_copy(update={"output": bounded_text(output), "command": ""})
        case TableBlock(rows=rows) if len(rows) > MOST_ROWS:
            return display.model_copy(update={"rows": rows[:MOST_ROWS]})
        case TodoBlock(items=items) if len(items) > MOST_ROWS:
            return display.model_copy(update={"items": items[:MOST_ROWS]})
        case _:
            return display


def bounded_text(text: str) -> str:
    """The beginning and the end of a long text."""
    return head_and_tail(text, MOST_CHARACTERS, _GAP)
