"""Writes config.example.toml, and `agent config`, from the schema."""

import json
import textwrap
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel

from agent_cli.config.layers import LoadedSettings, leaves
from agent_cli.config.schema import ModelSettings, Settings
from agent_cli.lib.language import tr

HEAD = """\
# Settings for agent. Copy what you need to ~/.config/agent/config.toml ($AGENT_HOME/config.toml).
# Every line shows the default. Generated from the schema by `make config.example.toml`.
"""


def example() -> str:
    """The example configuration, whole."""
    lines = [HEAD]
    lines += _entries(Settings)
    for name, info in Settings.model_fields.items():
        table = info.annotation
        if isinstance(table, type) and issubclass(table, BaseModel):
            lines += ["", *_comment(table.__doc__ or ""), f"[{name}]"]
            lines += _entries(table)
    lines += ["", *_comment(ModelSettings.__doc__ or ""), '# [models."openai/my-model"]']
    lines += _entries(ModelSettings)
    return "\n".join(lines) + "\n"


def listing(loaded: LoadedSettings) -> str:
    """Every setting with its value and the layer it came from."""
    rows = []
    for key, _ in leaves():
        value: Any = loaded.settings
        for name in key.split("."):
            value = getattr(value, name)
        rows.append((key, toml_value(value), loaded.origins.get(key) or _inner(key, loaded)))
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return "\n".join(
        f"{key:<{widths[0]}}  {value:<{min(widths[1], 50)}}  {origin}"
        for key, value, origin in rows
    )


def _inner(key: str, loaded: LoadedSettings) -> str:
    inside = {layer for known, layer in loaded.origins.items() if known.startswith(f"{key}.")}
    return ", ".join(sorted(inside)) or tr("default")


def _entries(table: type[BaseModel]) -> Iterator[str]:
    for name, info in table.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            continue
        if isinstance(info.default, dict) and name in ("models", "tools"):
            continue
        yield ""
        yield from _comment(info.description or "")
        value = toml_value(info.default)
        yield f"# {name} = {value}" if value else f"# {name} ="


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in textwrap.wrap(" ".join(text.split()), 98)]


def toml_value(value: Any) -> str:
    """A value as TOML writes it; None, which TOML cannot say, as nothing."""
    if value is None:
        return ""
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json", exclude_defaults=True)
    if isinstance(value, dict):
        items = (f"{json.dumps(key)} = {toml_value(item)}" for key, item in value.items())
        return "{ " + ", ".join(items) + " }"
    if isinstance(value, tuple | list):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)
