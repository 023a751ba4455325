"""Reads a file."""

from pathlib import Path

from pydantic import Field

from agent_cli.core.errors import ToolFailure
from agent_cli.core.tool import (
    Description,
    StatusTexts,
    Target,
    Tool,
    ToolKind,
    ToolParams,
    ToolResult,
)
from agent_cli.core.tool_context import ToolContext
from agent_cli.lib.text import plural


class Params(ToolParams):
    """What to read."""

    file_path: str
    """The file, absolute or relative to the workspace."""
    offset: int = Field(1, ge=1)
    """The first line, counted from 1."""
    limit: int = Field(2000, ge=1)
    """How many lines."""


async def run(params: Params, context: ToolContext) -> ToolResult:
    """Read the lines asked for, numbered."""
    path = Path(context.workspace.resolve(params.file_path).real)
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise ToolFailure(f"{params.file_path} cannot be read: {error.strerror}.") from error
    part = lines[params.offset - 1 : params.offset - 1 + params.limit]
    numbered = "\n".join(f"{n:>6}\t{line}" for n, line in enumerate(part, params.offset))
    return ToolResult(llm_content=numbered, summary=f"Read {plural(len(part), 'line')}")


TOOL = Tool(
    name="Read",
    kind=ToolKind.READONLY,
    params=Params,
    run=run,
    description=Description(short="Reads a file as numbered lines."),
    targets=lambda params: (Target("path", params.file_path),),
    title=lambda params: params.file_path,
    aliases=("read_file", "view", "cat", "open_file"),
    param_aliases={"path": "file_path", "filename": "file_path", "file": "file_path"},
    category="files",
    status=StatusTexts("Reading…", "Read failed"),
)
