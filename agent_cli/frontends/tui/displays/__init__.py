"""What a tool shows, block by block, as lines."""

from collections.abc import Sequence
from typing import assert_never

from textual.strip import Strip

from agent_cli.core import display as shown
from agent_cli.frontends.tui.appearance import Appearance
from agent_cli.frontends.tui.displays.diff_display import diff_lines
from agent_cli.frontends.tui.displays.output_display import output_lines, source_lines
from agent_cli.frontends.tui.displays.small_displays import image_lines, table_lines, todo_lines


def display_lines(display: shown.Display, width: int, look: Appearance) -> Sequence[Strip]:
    """Everything that is kept of it."""
    match display:
        case shown.TextBlock():
            return source_lines(display, width, look)
        case shown.DiffBlock():
            return diff_lines(display, width, look)
        case shown.TerminalBlock():
            return output_lines(display.output, width, look)
        case shown.TableBlock():
            return table_lines(display, width, look)
        case shown.TodoBlock():
            return todo_lines(display, width, look)
        case shown.ImageBlock():
            return image_lines(display, width, look)
        case _:
            assert_never(display)
