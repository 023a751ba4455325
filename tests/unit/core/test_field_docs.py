"""Field docstrings are what the model reads about parameters."""

from typing import Any

from agent_cli.core.tool import Description, Tool, ToolKind, ToolParams, ToolResult
from agent_cli.core.tool_context import ToolContext


class Item(ToolParams):
    """One of several."""

    name: str
    """What it is
    called."""
    count: int = 1


class Base(ToolParams):
    """What several tools take."""

    path: str
    """Where."""


class Params(
    Base,
):
    """A statement over several lines."""

    items: list[Item]
    """What to take."""

    def method(self) -> None:
        """Not a field."""


async def run(_params: Any, _context: ToolContext) -> ToolResult:
    return ToolResult()


def properties(params: type[ToolParams]) -> dict[str, Any]:
    tool = Tool(
        name="T",
        kind=ToolKind.READONLY,
        params=params,
        run=run,
        description=Description(short="Tests."),
    )
    found: dict[str, Any] = tool.schema["properties"]
    return found


def test_words_under_a_field_describe_it_inherited_and_nested_ones_too() -> None:
    found = properties(Params)
    assert found["path"]["description"] == "Where."
    assert found["items"]["description"] == "What to take."
    nested = found["items"]["items"]["properties"]
    assert nested["name"]["description"] == "What it is\ncalled."
    assert "description" not in nested["count"]


def test_two_classes_of_one_name_keep_their_own_words() -> None:
    def first() -> type[ToolParams]:
        class Local(ToolParams):
            a: int
            """One."""

        return Local

    def second() -> type[ToolParams]:
        class Local(ToolParams):
            a: int
            """Two."""

        return Local

    assert properties(first())["a"]["description"] == "One."
    assert properties(second())["a"]["description"] == "Two."


def test_a_class_without_source_has_no_words() -> None:
    space: dict[str, Any] = {"ToolParams": ToolParams, "__name__": "nowhere"}
    exec("class Made(ToolParams):\n    a: int\n    'Unseen.'\n", space)
    assert "description" not in properties(space["Made"])["a"]
