"""Tells where the session's shell stands."""

from pathlib import PurePath

from agent_cli.core.tool import Description, StatusTexts, Tool, ToolKind, ToolParams, ToolResult
from agent_cli.core.tool_context import ShellInfo, ToolContext
from agent_cli.lib.language import mark
from agent_cli.tools._aliases import names


async def run(_params: ToolParams, context: ToolContext) -> ToolResult:
    """The shell's directory if it moved, otherwise the workspace."""
    root = context.workspace.root
    path = context.state(ShellInfo).directory or root
    told = path if path == root else f"{path}\nworkspace: {root}"
    return ToolResult(
        llm_content=told,
        summary=path,
        metadata={"path": path, "basename": PurePath(path).name, "workspace": root},
    )


TOOL = Tool(
    name="CurrentDirectory",
    kind=ToolKind.READONLY,
    params=ToolParams,
    run=run,
    description=Description.beside(__file__),
    display_name=mark("Current directory"),
    aliases=names(
        "pwd cwd getcwd get_cwd get_current_directory get_working_directory "
        "get_current_working_directory current_working_directory"
    ),
    category="environment",
    status=StatusTexts(mark("Looking…"), mark("Current directory failed")),
)
