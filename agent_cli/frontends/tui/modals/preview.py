"""What a call would do, drawn for a decision: nothing hidden, nothing acted on."""

from collections.abc import Iterator, Sequence

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
from agent_cli.frontends.tui.ink import FAINT
from agent_cli.safety.sanitise import visible

_MOST_HIGHLIGHTED = 20_000


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
            return Content(f"picture {visible(block.path, one_line=True)}")


def code(text: str, language: str) -> Content:
    """Source text, highlighted if that changes no character of it."""
    shown = visible(text)
    if not language or len(shown) > _MOST_HIGHLIGHTED:
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
    text = visible(block.diff)
    # The two lines that name the file, and only those: a removed "-- x" looks like one of them.
    if text.startswith("--- ") and "\n@@" in text:
        text = text[text.index("\n@@") + 1 :]
    for line in _without_blank_ends(text.removesuffix("\n").split("\n")):
        if line.startswith("@@"):
            lines.append(Content.styled(line, FAINT))
        elif line.startswith("+"):
            lines.append(Content.styled(line, "$text-success on $success 8%"))
        elif line.startswith("-"):
            lines.append(Content.styled(line, "$text-error on $error 8%"))
        else:
            lines.append(Content(line))
    return Content("\n").join(lines)


def shown_path(block: DiffBlock, directory: str) -> str:
    """The path of the changed file, relative inside the directory."""
    return block.path.removeprefix(f"{directory.rstrip('/')}/") if directory else block.path


def _without_blank_ends(lines: Sequence[str]) -> Iterator[str]:
    """The lines without empty context where a hunk begins or ends: it would only be scrolled."""
    blank: list[str] = []
    at_start = True
    for line in lines:
        is_header = line.startswith("@@")
        if not line.strip():
            blank.append(line)
            continue
        if not at_start and not is_header:
            yield from blank
        blank.clear()
        at_start = is_header
        yield line
