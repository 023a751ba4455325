"""Argument JSON as models write it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from agent_cli.core.call_arguments import read_object
from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.core.tool import Description, Tool, ToolKind, ToolParams, ToolResult
from agent_cli.core.tool_context import ToolContext


class Params(ToolParams):
    file_path: str
    """Which file."""
    limit: int = Field(10, ge=1)
    """How much."""
    note: str | None = None


async def run(params: Params, context: ToolContext) -> ToolResult:
    return ToolResult()


TOOL = Tool(
    name="Look",
    kind=ToolKind.READONLY,
    params=Params,
    run=run,
    description=Description(short="Looks."),
    param_aliases={"path": "file_path"},
)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ("", {}),
        ("  \n", {}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('{"a": [1, 2,], }', {"a": [1, 2]}),
        ('{"a": "x,}"}', {"a": "x,}"}),
        ('{"a": "line\nbreak"}', {"a": "line\nbreak"}),
        ('\ufeff{"a": 1}', {"a": 1}),
    ],
)
def test_what_has_one_reading_is_read(raw: str, value: dict[str, object]) -> None:
    assert read_object(raw) == value


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("{'a': 1}", "not valid JSON"),
        ('{"a": 1', "not valid JSON"),
        ('{"a": "unfinished', "not valid JSON"),
        ('{"a": 1}{"a": 2}', "not valid JSON"),
        ('{"a": 1} and more', "not valid JSON"),
        ("null", "null, not an object"),
        ("42", "a number, not an object"),
        ('["a"]', "a list, not an object"),
        ('"plain"', "not valid JSON"),
        ('"\\"\\\\\\"{}\\\\\\"\\""', "a string, not an object"),
        ('{"a": 1, "a": 2}', "'a' twice"),
        ('{"a": NaN}', "NaN"),
        ("[" * 100_000, "nested too deeply"),
        (" " * 10_000_001, "long"),
    ],
)
def test_what_has_not_is_refused(raw: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_object(raw)


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=20) | st.integers() | st.booleans()))
def test_any_object_survives_the_ways_it_may_be_wrapped(value: dict[str, object]) -> None:
    plain = json.dumps(value)
    for raw in (plain, json.dumps(plain), f"```\n{plain}\n```", f"  {plain}\n"):
        assert read_object(raw) == value


def test_a_failure_names_each_field_what_was_given_and_what_is_expected() -> None:
    with pytest.raises(ToolFailure) as caught:
        TOOL.bind('{"limit": 0, "note": 5}')
    failure = caught.value
    assert failure.type is FailureType.VALIDATION
    assert "file_path: required, but not given" in failure.message
    assert "limit: input should be greater than or equal to 1; given 0" in failure.message
    assert "note: input should be a valid string; given 5" in failure.message
    assert '"file_path"' in failure.details


def test_other_names_of_a_parameter_are_known() -> None:
    for name in ("file_path", "filePath", "FilePath", "path", "file-path"):
        assert TOOL.bind({name: "a"}).params.file_path == "a"


def test_its_own_name_beats_an_alias() -> None:
    assert TOOL.bind({"path": "b", "file_path": "a"}).params.file_path == "a"


def test_numbers_in_quotes_are_numbers() -> None:
    assert TOOL.bind('{"path": "a", "limit": "7"}').params.limit == 7


def test_an_unknown_parameter_is_left_out_and_noted() -> None:
    invocation = TOOL.bind({"path": "a", "approved": True, "limt": 3})
    assert invocation.params.limit == 10
    assert invocation.notes == (
        "unknown parameter 'approved' was ignored",
        "unknown parameter 'limt' was ignored; did you mean 'limit'?",
    )


@pytest.mark.parametrize("text", ["a\0b", "a\ud800b"])
def test_text_that_can_go_nowhere_is_refused(text: str) -> None:
    with pytest.raises(ToolFailure, match="file_path contains"):
        TOOL.bind({"file_path": text})


def test_the_schema_is_lean_and_keeps_descriptions_and_defaults() -> None:
    assert TOOL.schema == {
        "type": "object",
        "properties": {
            "file_path": {"type": "string", "description": "Which file."},
            "limit": {"type": "integer", "minimum": 1, "default": 10, "description": "How much."},
            "note": {"type": "string"},
        },
        "required": ["file_path"],
    }


def test_a_tool_has_complete_metadata_by_itself() -> None:
    assert TOOL.display_name == "Look"
    assert TOOL.is_concurrency_safe is True
    assert TOOL.requires_permission is False
    assert TOOL.is_read_only
    assert TOOL.is_enabled()
    assert TOOL.version
    assert TOOL.bind({"path": "a"}).signature == "Look"
