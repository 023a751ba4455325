"""A server's tool as ours: renamed, reworded, and with no say in whether it may run."""

import json
import re
from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import Any

from agent_cli.core.display import TextBlock
from agent_cli.core.tool import Description, StatusTexts, ToolKind, ToolResult
from agent_cli.core.tool_context import ToolContext
from agent_cli.extensions.mcp.approved_servers import OfferedTool
from agent_cli.extensions.mcp.schemas import repair_schema, shorten
from agent_cli.extensions.schema_tool import FreeParams, SchemaTool
from agent_cli.lib.language import tr

MAX_NAME_CHARS = 64
"""What every provider takes."""
MAX_DESCRIPTION_CHARS = 2_000

Call = Callable[[str, dict[str, Any], ToolContext], Awaitable[ToolResult]]


def tool_name(server: str, tool: str) -> str:
    """`mcp__server__tool`, in the letters that every provider takes; a long one ends in a hash."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", tool)
    name = f"mcp__{server}__{plain}"
    if len(name) <= MAX_NAME_CHARS and plain == tool:
        return name
    mark = sha256(tool.encode("utf-8", "replace")).hexdigest()[:6]
    return f"{name[: MAX_NAME_CHARS - 7]}_{mark}"


def make_tool(
    offer: OfferedTool,
    server: str,
    call: Call,
    *,
    timeout: float,
    is_enabled: Callable[[str], bool] = lambda _name: True,
) -> SchemaTool:
    """The tool; raises Unusable. What the server claims about its harmlessness is not believed."""
    said = shorten(offer.description, MAX_DESCRIPTION_CHARS)

    async def run(params: FreeParams, context: ToolContext) -> ToolResult:
        return await call(offer.name, params.given, context)

    async def preview(params: FreeParams, _context: ToolContext) -> TextBlock:
        text = json.dumps(params.given, ensure_ascii=False, indent=2)
        return TextBlock(text=f"{offer.name} {text}", language="json")

    name = tool_name(server, offer.name)
    return SchemaTool(
        name=name,
        display_name=name,
        kind=ToolKind.EXECUTE,
        params=FreeParams,
        input_schema=repair_schema(offer.schema),
        description=Description(short=f"From the MCP server {server}, in its own words: {said}"),
        run=run,
        preview=preview,
        title=_title,
        rule=lambda _params: name,
        category="mcp",
        tags=(server,),
        requires_permission=True,
        is_concurrency_safe=False,
        timeout=timeout,
        status=StatusTexts(
            pending=tr("Calling {server}…", server=server),
            error=tr("{server} failed", server=server),
        ),
        is_enabled=lambda: is_enabled(name),
    )


def _title(params: FreeParams) -> str:
    text = " ".join(json.dumps(params.given, ensure_ascii=False).split())
    return text if len(text) <= 80 else f"{text[:79]}…"
