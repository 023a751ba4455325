"""What a call would do, drawn for a decision: nothing hidden, nothing acted on."""

from textual.content import Content
from textual.highlight import highlight

from agent_cli.core import display as shown
from agent_cli.frontends.shared.approval_text import diff_body, shown_path
from agent_cli.frontends.tui.ink import FAINT
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import visible

_MAX_HIGHLIGHTED_CHARS = 20_000
_SIGN_STYLES = {"+": "$text-success on $success 8%", "-": "$text-error on $error 8%"}


def draw(block: shown.Display, directory: str = "") -> Content:
    """The whole block, with everything odd in it spelled out; paths as seen from a directory."""
    match block:
        case shown.TextBlock():
            return code(block.text, block.language)
        case shown.DiffBlock():
            return diff(block, directory)
        case shown.TerminalBlock():
            return code(block.command, "bash")
        case shown.TableBlock():
            rows = (block.columns, *block.rows)
            cells = (" · ".join(visible(cell, one_line=True) for cell in row) for row in rows)
            return Content("\n".join(cells))
        case shown.TodoBlock():
            return Content("\n".join(visible(item.text, one_line=True) for item in block.items))
        case shown.ImageBlock():
            return Content(tr("image {path}", path=visible(block.path, one_line=True)))


def code(text: str, language: str) -> Content:
    """Source text, highlighted if that changes no character of it."""
    source = visible(text)
    if not language or len(source) > _MAX_HIGHLIGHTED_CHARS:
        return Content(source)
    coloured = highlight(source, language=visible(language, one_line=True))
    return coloured if coloured.plain == source else Content(source)


def diff(block: shown.DiffBlock, directory: str = "") -> Content:
    """A unified diff under its path and figures; signs and colours both tell what changes."""
    figures = Content.assemble(
        (f"+{block.added}", "$text-success"), " ", (f"−{block.removed}", "$text-error")
    )
    path = visible(shown_path(block, directory), one_line=True)
    lines = [Content.assemble((path, "bold"), "  ", figures), Content("")]
    for line in diff_body(block).split("\n"):
        style = FAINT if line.startswith("@@") else _SIGN_STYLES.get(line[:1], "")
        lines.append(Content.styled(line, style))
    return Content("\n").join(lines)
