"""A function becomes a tool: signature and docstring are the schema."""

import threading
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field

from agent_cli.core.tool import ToolKind
from agent_cli.extensions.api import ToolContext, ToolResult, call_tool, tool
from agent_cli.extensions.decorator import tool_of


class Point(BaseModel):
    x: int
    y: int = 0


@tool(kind="readonly")
async def forecast(
    city: str,
    unit: Literal["C", "F"] = "C",
    days: Annotated[int, Field(ge=1, le=7)] = 1,
    *,
    context: ToolContext,
) -> dict[str, object]:
    """Tells the weather
    to come.

    Not for the past.

    Args:
        city: The city, in English,
            without its country.
        unit (str): The scale.

    Returns:
        A forecast.
    """
    return {"city": city, "unit": unit, "days": days, "call": context.call_id}


@tool
def thread_name(where: Point) -> str:
    """Says where it runs.

    :param where: A place
      on the map.
    :return: the name
    """
    return f"{threading.current_thread() is threading.main_thread()} {where.x}"


def test_the_schema_comes_from_signature_and_docstring() -> None:
    made = tool_of(forecast)
    assert made is not None
    assert (made.name, made.kind) == ("forecast", ToolKind.READONLY)
    assert made.description.short == "Tells the weather to come."
    assert made.description.long == "Not for the past."
    assert made.schema == {
        "type": "object",
        "required": ["city"],
        "properties": {
            "city": {
                "type": "string",
                "description": "The city, in English, without its country.",
            },
            "unit": {
                "type": "string",
                "enum": ["C", "F"],
                "default": "C",
                "description": "The scale.",
            },
            "days": {"type": "integer", "minimum": 1, "maximum": 7, "default": 1},
        },
    }


def test_what_is_not_declared_read_only_asks() -> None:
    made = tool_of(thread_name)
    assert made is not None
    assert made.kind is ToolKind.EXECUTE
    assert made.requires_permission
    assert made.schema["properties"]["where"]["description"] == "A place on the map."


def test_it_is_called_as_the_model_would_call_it() -> None:
    result = call_tool(forecast, '{"city": "Lisbon", "days": 3}')
    assert result.success
    assert '"days": 3' in str(result.llm_content)
    wrong = call_tool(forecast, {"city": "Lisbon", "days": 9})
    assert wrong.error is not None
    assert "days: input should be less than or equal to 7" in wrong.error.message


def test_a_plain_function_runs_beside_the_event_loop_and_stays_callable() -> None:
    assert call_tool(thread_name, {"where": {"x": 4}}).llm_content == "False 4"
    assert thread_name(Point(x=4)) == "True 4"


def test_results_may_be_anything() -> None:
    @tool
    def nothing() -> None:
        """Does nothing."""

    @tool
    def own() -> ToolResult:
        """Has a result of its own."""
        return ToolResult(llm_content="mine", summary="Mine")

    @tool
    def model() -> list[Point]:
        """Gives models."""
        return [Point(x=1)]

    assert call_tool(nothing, {}).llm_content == "Done."
    assert call_tool(own, {}).summary == "Mine"
    assert '"x": 1' in str(call_tool(model, {}).llm_content)


def test_functions_that_cannot_be_tools_say_why() -> None:
    with pytest.raises(TypeError, match="rest must be usable by keyword"):

        @tool
        def star(*rest: str) -> None:
            """Takes anything."""

    with pytest.raises(TypeError, match="x has no type"):

        @tool
        def untyped(x) -> None:  # type: ignore[no-untyped-def]
            """Takes something."""

    with pytest.raises(TypeError, match="no docstring"):

        @tool
        def wordless() -> None:
            pass
