"""Argument JSON as models really write it: used when valid, repaired when there is but one reading.

What is repaired: a JSON string that holds the JSON, a Markdown fence around it, raw control
characters inside strings, a comma before a closing bracket. Everything else (single quotes, cut
off, twice the same key, not an object) is answered with what is wrong and the schema, because a
call that runs on a guess may be the wrong call.
"""

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from agent_cli.core.errors import FailureType, ToolFailure

MAX_CHARS = 10_000_000
"""Characters of argument JSON; more is not a call but an accident."""

_FENCE = re.compile(r"\A```(?:json)?[ \t]*\n(.*)\n```\Z", re.DOTALL)
_STRING_OR_TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(\s*[}\]])', re.DOTALL)


def parse_arguments(
    raw: str | Mapping[str, Any], tool: str, schema: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments as a dictionary, or a failure that says what is wrong with them."""
    if not isinstance(raw, str):
        return dict(raw)
    try:
        value = read_object(raw)
    except ValueError as error:
        raise ToolFailure(
            f"{tool} was not run: its arguments {error.args[0]}.",
            type=FailureType.VALIDATION,
            details=f"Given: {_excerpt(raw)}\nExpected a JSON object: {_compact(schema)}",
        ) from error
    return value


def read_object(raw: str) -> dict[str, Any]:
    """The JSON object in a text, or a ValueError whose text completes "its arguments …"."""
    if len(raw) > MAX_CHARS:
        raise ValueError(f"are {len(raw):,} characters long; the limit is {MAX_CHARS:,}")
    if not raw.strip():
        return {}
    value = _decode(raw)
    if isinstance(value, str):
        value = _decode(value)
    if not isinstance(value, dict):
        raise ValueError(f"are {_kind(value)}, not an object")  # noqa: TRY004 (JSON, not Python)
    return value


def _decode(text: str) -> Any:
    text = text.strip().removeprefix("\ufeff")
    if fenced := _FENCE.match(text):
        text = fenced[1].strip()
    try:
        return _loads(text)
    except json.JSONDecodeError as error:
        repaired = _STRING_OR_TRAILING_COMMA.sub(lambda found: found[1] or found[2], text)
        if repaired != text:
            try:
                return _loads(repaired)
            except json.JSONDecodeError:
                pass
        said = f"are not valid JSON ({error.msg} at character {error.pos + 1})"
        raise ValueError(said) from error
    except RecursionError as error:
        raise ValueError("are nested too deeply") from error


def _loads(text: str) -> Any:
    return json.loads(
        text, strict=False, object_pairs_hook=_without_duplicates, parse_constant=_no_constant
    )


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"name {twice!r} twice")
    return result


def _no_constant(name: str) -> Any:
    raise ValueError(f"contain {name}, which is not JSON")


def rename_fields(
    given: dict[str, Any], fields: Iterable[str], aliases: Mapping[str, str]
) -> tuple[dict[str, Any], list[str]]:
    """Known other names become the tool's own; what it does not know is left out and noted.

    A name is taken for the tool's own if it is the same but for case and underscores, or if the
    tool lists it as an alias. An alias of nothing asks for what the tool does anyway.
    """
    known = {_plain(name): name for name in fields}
    known |= {_plain(alias): name for alias, name in aliases.items() if _plain(alias) not in known}
    renamed: dict[str, Any] = {name: value for name, value in given.items() if name in fields}
    notes: list[str] = []
    for name, value in given.items():
        if name in fields:
            continue
        target = known.get(_plain(name))
        if target == "":
            continue
        if target is not None and target not in renamed:
            renamed[target] = value
        elif near := difflib.get_close_matches(name, [f for f in fields if f not in renamed], 1):
            notes.append(f"unknown parameter {name!r} was ignored; did you mean {near[0]!r}?")
        else:
            notes.append(f"unknown parameter {name!r} was ignored")
    return renamed, notes


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def validation_failure(
    tool: str, error: ValidationError, schema: Mapping[str, Any], notes: Iterable[str] = ()
) -> ToolFailure:
    """A failure that names each field, what was given and what is expected."""
    lines = []
    for problem in error.errors(include_url=False):
        where = ".".join(str(step) for step in problem["loc"]) or "arguments"
        if problem["type"] == "missing":
            lines.append(f"- {where}: required, but not given")
            continue
        expected = problem["msg"].removeprefix("Value error, ")
        given = "" if where == "arguments" else f"; given {_excerpt(repr(problem['input']), 80)}"
        lines.append(f"- {where}: {expected[:1].lower()}{expected[1:]}{given}")
    lines += [f"- {note}" for note in notes]
    return ToolFailure(
        "\n".join([f"{tool} was not run: its arguments are not valid.", *lines]),
        type=FailureType.VALIDATION,
        details=f"Parameters: {_compact(schema)}",
    )


def _compact(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, ensure_ascii=False, separators=(",", ":"))


def _excerpt(text: str, width: int = 200) -> str:
    return text if len(text) <= width else f"{text[:width]}… ({len(text):,} characters)"


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    kinds = {bool: "a boolean", int: "a number", float: "a number", list: "a list"}
    return kinds.get(type(value), "a string")
