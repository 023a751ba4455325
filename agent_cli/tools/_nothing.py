"""The parameters of a tool that takes none."""

from agent_cli.core.tool import ToolParams


class NoParams(ToolParams):
    """No parameters."""
