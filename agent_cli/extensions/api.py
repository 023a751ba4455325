"""Everything a tool file or a plugin imports.

from agent_cli.extensions.api import tool

@tool(kind="readonly")
def word_count(text: str) -> str:
    '''Counts the words of a text.'''
    return f"{len(text.split())} words"
"""

from agent_cli.core.display import DiffBlock, TableBlock, TerminalBlock, TextBlock
from agent_cli.core.errors import ToolFailure, refuse
from agent_cli.core.extension_protocol import SlashCommand
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
from agent_cli.extensions.decorator import tool
from agent_cli.extensions.hook_definition import Hook
from agent_cli.extensions.plugin import Plugin, PluginContext
from agent_cli.extensions.trying import call_tool

__all__ = [
    "Description",
    "DiffBlock",
    "Hook",
    "Plugin",
    "PluginContext",
    "SlashCommand",
    "StatusTexts",
    "TableBlock",
    "Target",
    "TerminalBlock",
    "TextBlock",
    "Tool",
    "ToolContext",
    "ToolFailure",
    "ToolKind",
    "ToolParams",
    "ToolResult",
    "call_tool",
    "refuse",
    "tool",
]
