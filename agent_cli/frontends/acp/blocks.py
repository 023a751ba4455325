"""Display blocks as an editor shows them."""

import os
import re
from collections.abc import Iterator

from acp import helpers, schema

from agent_cli.controller.slash_command import Command
from agent_cli.core.display import (
    DiffBlock,
    Display,
    ImageBlock,
    TableBlock,
    TerminalBlock,
    TextBlock,
    TodoBlock,
)
from agent_cli.core.messages import Content, ImagePart
from agent_cli.frontends.acp.diffs import hunks
from agent_cli.lib.language import tr
from agent_cli.safety.paths import Workspace
from agent_cli.safety.sanitise import clean, for_model

Shown = (
    schema.ContentToolCallContent | schema.FileEditToolCallContent | schema.TerminalToolCallContent
)

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_TICKS = re.compile(r"`{3,}")
_SIGNS = {"pending": "☐", "in_progress": "▸", "completed": "☑"}
_MAX_HUNKS = 100


def plain(text: str) -> str:
    """Text for an editor: nothing hidden, no controls, but tabs and line breaks as they are."""
    return _CONTROLS.sub("", for_model(text)[0])


def fence(text: str, language: str = "") -> str:
    """A text that Markdown leaves alone."""
    longest = max((len(found) for found in _TICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.removesuffix(chr(10))}\n{fence}"


def text_content(text: str) -> schema.ContentToolCallContent:
    """A text below a call."""
    return helpers.tool_content(helpers.text_block(text))


def advertise(command: Command) -> schema.AvailableCommand:
    """A slash command as an editor lists it."""
    hint = schema.UnstructuredCommandInput(hint=tr(command.argument))
    return schema.AvailableCommand(
        name=command.name,
        description=tr(command.help),
        input=schema.AvailableCommandInput(root=hint) if command.argument else None,
    )


def absolute(path: str, workspace: Workspace) -> str:
    """A path as an editor wants it."""
    if path.startswith("~/"):
        path = f"{workspace.home}{path[1:]}"
    return os.path.normpath(os.path.join(workspace.root, path))  # noqa: PTH118 (may be no path)


def display_content(display: Display, workspace: Workspace) -> Iterator[Shown]:
    """A block as content of a call."""
    match display:
        case DiffBlock():
            yield from _diff(display, workspace)
        case TextBlock(text=text, language="markdown"):
            yield text_content(plain(text))
        case TextBlock(text=text, language=language):
            yield text_content(fence(plain(text), language))
        case TerminalBlock():
            yield text_content(fence(_terminal(display), "console"))
        case TableBlock(columns=columns, rows=rows):
            lines = [_row(columns), "|" + "---|" * len(columns), *map(_row, rows)]
            yield text_content("\n".join(lines))
        case TodoBlock(items=items):
            yield text_content(
                "\n".join(f"{_SIGNS[item.status]} {plain(item.text)}" for item in items)
            )
        case ImageBlock(path=path, media_type=kind, width=width, height=height):
            size = f", {width} × {height}" if width and height else ""
            yield text_content(f"{plain(path)} ({kind}{size})")


def pictures(content: Content) -> Iterator[schema.ContentToolCallContent]:
    """The pictures among what the model got."""
    for part in () if isinstance(content, str) else content:
        if isinstance(part, ImagePart):
            yield helpers.tool_content(helpers.image_block(part.data, part.media_type))


def locations(displays: tuple[Display, ...], workspace: Workspace) -> list[schema.ToolCallLocation]:
    """Where the changes are, for an editor that follows."""
    return [
        schema.ToolCallLocation(path=absolute(hunk.path, workspace), line=hunk.line)
        for display in displays
        if isinstance(display, DiffBlock)
        for hunk in list(hunks(display.diff, display.path))[:_MAX_HUNKS]
    ]


def _diff(block: DiffBlock, workspace: Workspace) -> Iterator[Shown]:
    found = list(hunks(block.diff, block.path))
    for hunk in found[:_MAX_HUNKS]:
        old = None if hunk.old_text is None else plain(hunk.old_text)
        path = absolute(hunk.path, workspace)
        yield helpers.tool_diff_content(path, plain(hunk.new_text), old)
    last = block.diff.rpartition("\n")[2]
    if len(found) > _MAX_HUNKS or last.startswith("…"):
        yield text_content(tr("The rest of the change is not shown."))


def _terminal(block: TerminalBlock) -> str:
    command = "\n".join(f"$ {line}" for line in plain(block.command).split("\n"))
    code = "\n" + tr("exit {code}", code=block.exit_code) if block.exit_code else ""
    parts = (command if block.command else "", clean(block.output).rstrip("\n"))
    return "\n".join(filter(None, parts)) + code


def _row(cells: tuple[str, ...]) -> str:
    safe = (plain(cell).replace("|", "\\|").replace("\n", " ") for cell in cells)
    return "| " + " | ".join(safe) + " |"
