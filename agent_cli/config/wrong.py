"""What is wrong with the value of a setting, in the user's language."""

from collections.abc import Mapping
from typing import Any

from agent_cli.lib.language import SOURCE, current_language, mark, tr
from agent_cli.lib.text import either

_EXPECTED = {
    "missing": mark("field required"),
    "string_type": mark("input should be a valid string"),
    "string_too_short": mark("string should have at least {min_length} character"),
    "int_type": mark("input should be a valid integer"),
    "int_parsing": mark("input should be a valid integer, unable to parse string as an integer"),
    "int_from_float": mark("input should be a valid integer, got a number with a fractional part"),
    "float_type": mark("input should be a valid number"),
    "float_parsing": mark("input should be a valid number, unable to parse string as a number"),
    "bool_type": mark("input should be a valid boolean"),
    "bool_parsing": mark("input should be a valid boolean, unable to interpret input"),
    "greater_than": mark("input should be greater than {gt}"),
    "greater_than_equal": mark("input should be greater than or equal to {ge}"),
    "less_than_equal": mark("input should be less than or equal to {le}"),
    "literal_error": mark("input should be {expected}"),
    "enum": mark("input should be {expected}"),
    "tuple_type": mark("input should be a valid tuple"),
    "dict_type": mark("input should be a valid dictionary"),
    "model_type": mark("input should be a valid dictionary or instance of {class_name}"),
}
"""By the type of pydantic's error: its own words, which hold in English."""


def expectation(problem: Mapping[str, Any]) -> str:
    """What pydantic would rather have, as the end of a sentence."""
    words = _EXPECTED.get(problem["type"])
    if words is None or current_language() == SOURCE:
        said: str = problem["msg"].removeprefix("Value error, ").rstrip(".。")
        return said[:1].lower() + said[1:]
    return tr(words, **{name: _value(value) for name, value in problem.get("ctx", {}).items()})


def _value(value: Any) -> Any:
    """As pydantic writes it: 0 for 0.0, and names with an "or" before the last."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and " or " in value:
        return either(value.rsplit(" or ", 1))
    return value
