"""No more of what a tool shows than a screen needs; the session keeps the rest."""

from agent_cli.core.display import (
    DiffBlock,
    Display,
    TableBlock,
    TerminalBlock,
    TextBlock,
    TodoBlock,
)
from agent_cli.lib.language import mark, tr
from agent_cli.lib.text import head_and_tail

MAX_CHARS = 40_000
"""What is kept for the screen of one text a tool gives."""
MAX_ROWS = 400

_GAP = mark("… {left_out:,} characters are not shown")


def bound_display(display: Display) -> Display:
    """The same with no more than the screen needs."""
    match display:
        case TextBlock(text=text) if len(text) > MAX_CHARS:
            return display.model_copy(update={"text": bound_text(text)})
        case DiffBlock(diff=diff) if len(diff) > MAX_CHARS:
            shown = diff[:MAX_CHARS].rpartition("\n")[0]
            return display.model_copy(update={"diff": f"{shown}\n…"})
        case TerminalBlock(output=output, command=command) if (
            len(output) + len(command) > MAX_CHARS
        ):
            return display.model_copy(update={"output": bound_text(output), "command": ""})
        case TableBlock(rows=rows) if len(rows) > MAX_ROWS:
            return display.model_copy(update={"rows": rows[:MAX_ROWS]})
        case TodoBlock(items=items) if len(items) > MAX_ROWS:
            return display.model_copy(update={"items": items[:MAX_ROWS]})
        case _:
            return display


def bound_text(text: str) -> str:
    """The beginning and the end of a long text."""
    return head_and_tail(text, MAX_CHARS, tr(_GAP))
