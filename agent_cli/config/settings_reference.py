"""Writes docs/configuration.md from the schema."""

from collections.abc import Iterable, Iterator
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from agent_cli.config.example import toml_value
from agent_cli.config.layers import PREFIX
from agent_cli.config.schema import ExampledRule, FromProject, HookSettings, ModelSettings, Settings

HEAD = f"""\
# Configuration

<!-- Generated from agent_cli/config/schema.py by `make docs/configuration.md`. -->

Settings come from these places; later ones override earlier ones:

1. the defaults below;
2. your file, `~/.config/agent/config.toml` (`$AGENT_HOME/config.toml` if `AGENT_HOME` is set);
3. the project's `.agent/config.toml`, only in a folder you trust, and only the settings marked
   **project**: they can tighten, never loosen or redirect. Others are ignored with a warning.
   (Its hooks are added to yours. Its MCP servers are read too, and each needs your approval);
4. environment variables: `{PREFIX}`, the table and the name in capitals (`{PREFIX}MODEL=…`,
   `{PREFIX}LIMITS_STEPS=10`); lists as in TOML or separated by commas. Unknown names give a
   warning;
5. command-line flags.

Rules in `[permissions]` and hooks from all places add up; other settings are replaced. An unknown
name or an invalid value in a file stops the program with an error that names it.
`agent config` shows every value in use and where it comes from.
[config.example.toml](../config.example.toml) is the same list as a file to copy from.
"""


def reference() -> str:
    """The configuration reference, whole."""
    lines = [HEAD, "## At the top of the file", *_table(Settings)]
    for name, info in Settings.model_fields.items():
        table = info.annotation
        if isinstance(table, type) and issubclass(table, BaseModel):
            lines += _section(f"[{name}]", table)
    lines += _section('[models."NAME"]', ModelSettings)
    lines += _section("[[hooks]]", HookSettings)
    lines += _section("A rule with examples", ExampledRule)
    return "\n".join(lines) + "\n"


def _section(title: str, table: type[BaseModel]) -> Iterator[str]:
    yield from ("", f"## {title if ' ' in title else f'`{title}`'}", "")
    yield _cell(table.__doc__ or "")
    yield from _table(table)


def _table(table: type[BaseModel]) -> Iterator[str]:
    yield from ("", "| setting | values | default | |", "|---|---|---|---|")
    for name, info in table.model_fields.items():
        if not _is_table(info.annotation):
            yield f"| `{name}` | {_values(info)} | {_default(info)} | {_meaning(info)} |"


def _meaning(info: FieldInfo) -> str:
    is_for_projects = any(isinstance(mark, FromProject) for mark in info.metadata)
    return _cell(info.description or "") + (" **project**" if is_for_projects else "")


def _default(info: FieldInfo) -> str:
    if info.is_required():
        return "required"
    value = "{}" if info.default == {} else toml_value(info.default)
    return f"`{value}`" if value else "none"


def _values(info: FieldInfo) -> str:
    limits = {
        sign: getattr(mark, name)
        for mark in info.metadata
        for name, sign in (("gt", "over"), ("ge", "from"), ("le", "to"), ("lt", "under"))
        if hasattr(mark, name)
    }
    return " ".join(
        [_type(info.annotation), *(f"{sign} {_number(n)}" for sign, n in limits.items())]
    )


def _type(annotation: Any) -> str:
    """What users may write, in words."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return " or ".join(_type(each) for each in arguments if each is not NoneType)
    if origin is Literal:
        return _choices(arguments)
    if origin is tuple:
        return f"list of {_type(arguments[0])}"
    if origin is dict or _is_table(annotation):
        return "table"
    if issubclass(annotation, Enum):
        return _choices(each.value for each in annotation)
    return {str: "text", bool: "true, false", int: "whole number", float: "number"}[annotation]


def _choices(values: Iterable[str]) -> str:
    return ", ".join(f"`{toml_value(value)}`" for value in values)


def _number(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:g}"


def _is_table(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
