"""The schema a tool sends: flat, without what a model cannot use."""

import json

from agent_cli.core.tool import Description, Tool, ToolKind, ToolParams, ToolResult
from agent_cli.core.tool_context import ToolContext


class Part(ToolParams):
    """One part: words for programmers."""

    text: str
    """What it says."""


class Params(ToolParams):
    """All parts: words for programmers."""

    parts: list[Part]
    """The parts, in order."""
    last: Part | None = None


async def run(_params: Params, _context: ToolContext) -> ToolResult:
    return ToolResult()


TOOL = Tool(
    name="Parts",
    kind=ToolKind.READONLY,
    params=Params,
    run=run,
    description=Description(short="Takes parts."),
)


def test_nested_models_stand_where_they_are_used() -> None:
    part = {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "What it says."}},
        "required": ["text"],
    }
    assert TOOL.schema == {
        "type": "object",
        "properties": {
            "parts": {"type": "array", "items": part, "description": "The parts, in order."},
            "last": part,
        },
        "required": ["parts"],
    }


def test_docstrings_of_classes_are_not_sent() -> None:
    assert "programmers" not in json.dumps(TOOL.declaration)
