"""Calls a tool without a session: for the tests of those who write tools."""

import asyncio
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from agent_cli.core.errors import ToolFailure
from agent_cli.core.model import ModelRequest
from agent_cli.core.tool import ToolResult
from agent_cli.core.tool_context import SessionState, SessionView, ToolContext
from agent_cli.extensions.decorator import tool_of
from agent_cli.safety.paths import Workspace


def call_tool(
    tool: Any, arguments: Mapping[str, Any] | str, *, workspace: Path | None = None
) -> ToolResult:
    """What comes of a call as the model would make it: validated, run, a failure as a result.

    `tool` is a `Tool` or a function with `@tool`. Nobody is asked for permission.
    """
    found = tool_of(tool)
    if found is None:
        raise TypeError(f"{tool!r} is no tool")
    try:
        invocation = found.bind(arguments)

        async def run() -> ToolResult:
            return await invocation.run(_context(workspace or Path.cwd()))

        return asyncio.run(run())
    except ToolFailure as failure:
        return ToolResult.from_failure(failure)


def _context(root: Path) -> ToolContext:
    workspace = Workspace(root=str(root), home=str(Path.home()))
    return ToolContext(
        call_id="call",
        session=SessionView(id="test", workspace=workspace, environment={}),
        model=_NoModel(),
        cancelled=threading.Event(),
        progress=lambda _shown: None,
        state=SessionState().get,
        call=_not_here,
        ask=_not_here,
        present=_not_here,
    )


class _NoModel:
    name = "none"

    def stream(self, request: ModelRequest) -> NoReturn:
        raise ToolFailure("There is no model here.")


async def _not_here(*_: Any) -> NoReturn:
    raise ToolFailure("This needs a session.")
