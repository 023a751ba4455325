"""What a call would do, drawn for a decision: nothing hidden, nothing acted on."""

from textual.content import Content
from textual.highlight import highlight

from agent_cli.core.display import (
    DiffBlock,
    Display,
    ImageBlock,
    TableBlock,
    TerminalBlock,
    TextBlock,
    TodoBlock,
)
from agent_cli.frontends.shared.approval_text import diff_body, shown_path
from agent_cli.frontends.tui.ink import FAINT
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import visible

_MAX_HIGHLIGHTED_CHARS = 20_000


def draw(block: Display, directory: str = "") -> Content:
    """The whole block, with everything odd in it spelled out; paths as seen from a directory."""
    match block:
        case TextBlock():
            return code(block.text, block.language)
        case DiffBlock():
            return diff(block, directory)
        case TerminalBlock():
            return code(block.command, "bash")
        case TableBlock():
            rows = (block.columns, *block.rows)
            cells = (" · ".join(visible(cell, one_line=True) for cell in row) for row in rows)
            return Content("\n".join(cells))
        case TodoBlock():
            return Content("\n".join(visible(item.text, one_line=True) for item in block.items))
        case ImageBlock():
            return Content(tr("image {path}", path=visible(block.path, one_line=True)))


def code(text: str, language: str) -> Content:
    """Source text, highlighted if that changes no character of it."""
    shown = visible(text)
    if not language or len(shown) > _MAX_HIGHLIGHTED_CHARS:
        return Content(shown)
    coloured = highlight(shown, language=visible(language, one_line=True))
    return coloured if coloured.plain == shown else Content(shown)


def diff(block: DiffBlock, directory: str = "") -> Content:
    """A unified diff under its path and figures; signs and colours both tell what changes."""
    figures = Content.assemble(
        (f"+{block.added}", "$text-success"), " ", (f"−{block.removed}", "$text-error")
    )
    path = visible(shown_path(block, directory), one_line=True)
    lines = [Content.assemble((path, "bold"), "  ", figures), Content("")]
    for line in diff_body(block).split("\n"):
        if line.startswith("@@"):
            lines.append(Content.styled(line, FAINT))
        elif line.startswith("+"):
            lines.append(Content.styled(line, "$text-success on $success 8%"))
        elif line.startswith("-"):
            lines.append(Content.styled(line, "$text-error on $error 8%"))
        else:
            lines.append(Content(line))
    return Content("\n").join(lines)
