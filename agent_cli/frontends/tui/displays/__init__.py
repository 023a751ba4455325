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
from agent_cli.frontends.tui.appearance import Appearance
from agent_cli.frontends.tui.displays.diff_display import diff_lines
from agent_cli.frontends.tui.displays.output_display import output_lines, source_lines
from agent_cli.frontends.tui.displays.small_displays import image_lines, table_lines, todo_lines


def display_lines(display: Display, width: int, look: Appearance) -> Sequence[Strip]:
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
