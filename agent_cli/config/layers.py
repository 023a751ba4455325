"""Where settings come from: defaults ← user file ← project file ← environment ← flags."""

import difflib
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from agent_cli.config.schema import FromProject, Settings
from agent_cli.config.wrong import expectation
from agent_cli.core.errors import UserError
from agent_cli.lib.language import tr
from agent_cli.lib.text import either

PREFIX = "AGENT_"
NOT_SETTINGS = frozenset({"AGENT_HOME", "AGENT_LOG", "AGENT_LOCAL_PORTS"})
PROJECT_FILE = ".agent/config.toml"
READ_APART = "mcp.servers"
"""Servers are not laid over each other: each is known, and approved, with the file it is from."""
ADDED = ("permissions.", "plugins.disabled", "hooks")
"""Lists that grow from layer to layer: what one forbids, the next cannot permit by replacing it."""


@dataclass(frozen=True)
class Layer:
    """Settings from one place, as nested plain data."""

    name: str
    """The place as users know it: a file's path, "environment", "command line"."""
    values: Mapping[str, Any]


@dataclass(frozen=True)
class LoadedSettings:
    """The settings in force, and where each of them came from."""

    settings: Settings
    origins: Mapping[str, str]
    """The layer of each setting that is not a default, by dotted key."""
    warnings: tuple[str, ...] = ()


def load(
    *,
    user_file: Path,
    project_file: Path | None,
    environment: Mapping[str, str],
    flags: Mapping[str, Any],
) -> LoadedSettings:
    """Read all layers. `project_file` is None while the folder is not trusted."""
    warnings: list[str] = []
    layers = [Layer(str(user_file), read_file(user_file))]
    if project_file is not None:
        layers.append(_only_tightening(Layer(str(project_file), read_file(project_file)), warnings))
    layers.append(Layer(tr("environment"), _from_environment(environment, warnings)))
    layers.append(Layer(tr("command line"), flags))
    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for layer in layers:
        _merge(merged, layer.values, origins, layer.name)
    try:
        settings = Settings.model_validate(merged)
    except ValidationError as error:
        raise _explain(error, origins) from error
    return LoadedSettings(settings, origins, tuple(warnings))


def read_file(path: Path) -> dict[str, Any]:
    """A TOML file; one that is not there is empty."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(tr("Can't read {path}: {error}.", path=path, error=error)) from error
    except tomllib.TOMLDecodeError as error:
        raise UserError(tr("{path} is not valid TOML: {error}.", path=path, error=error)) from error


def server_tables(path: Path) -> dict[str, Any]:
    """The MCP servers that a file configures, by name."""
    table = read_file(path).get("mcp", {})
    named = table.get("servers", {}) if isinstance(table, dict) else {}
    return named if isinstance(named, dict) else {}


def leaves(model: type[BaseModel] = Settings, before: str = "") -> Iterator[tuple[str, Any]]:
    """Every setting as (dotted key, its field)."""
    for name, info in model.model_fields.items():
        key = f"{before}{name}"
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            yield from leaves(info.annotation, f"{key}.")
        else:
            yield key, info


def _merge(
    into: dict[str, Any],
    values: Mapping[str, Any],
    origins: dict[str, str],
    layer: str,
    key: str = "",
) -> None:
    """Lay values over others: tables merge, some lists grow, others replace."""
    for name, value in values.items():
        dotted = f"{key}{name}"
        if isinstance(value, Mapping):
            table = into.setdefault(name, {})
            if isinstance(table, dict):
                _merge(table, value, origins, layer, f"{dotted}.")
                continue
        if dotted.startswith(ADDED) and isinstance(value, list | tuple):
            into[name] = [*into.get(name, []), *value]
            origins[dotted] = f"{origins[dotted]}, {layer}" if dotted in origins else layer
        else:
            into[name] = value
            origins[dotted] = layer


def _only_tightening(layer: Layer, warnings: list[str]) -> Layer:
    """The part of a project's file that cannot weaken safety or redirect the model. What it runs,
    servers and hooks, was listed when the user trusted the folder."""
    allowed = {
        key: info
        for key, info in leaves()
        if any(isinstance(m, FromProject) for m in info.metadata)
    }

    def kept(values: Mapping[str, Any], before: str = "") -> dict[str, Any]:
        result: dict[str, Any] = {}
        for name, value in values.items():
            key = f"{before}{name}"
            if key in allowed:
                # A project can switch something off; it is on anyway, unless the user said no.
                if allowed[key].annotation is not bool or value is False:
                    result[name] = value
            elif key == READ_APART:
                continue
            elif isinstance(value, Mapping) and any(a.startswith(f"{key}.") for a in allowed):
                result[name] = kept(value, f"{key}.")
            else:
                file = layer.name
                said = tr("{file}: ignored {key}, which a project can't set.", file=file, key=key)
                warnings.append(said)
        return result

    return Layer(layer.name, kept(layer.values))


def _from_environment(environment: Mapping[str, str], warnings: list[str]) -> dict[str, Any]:
    """`AGENT_LIMITS_STEPS=10` is `limits.steps = 10`; a list is written as TOML."""
    known = {PREFIX + key.upper().replace(".", "_"): (key, info) for key, info in leaves()}
    values: dict[str, Any] = {}
    for name in sorted(environment):
        if not name.startswith(PREFIX) or name in NOT_SETTINGS:
            continue
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            said = tr("{name} is not a setting.", name=name)
            if near:
                said = tr("{name} is not a setting; did you mean {near}?", name=name, near=near[0])
            warnings.append(said)
            continue
        key, info = known[name]
        table = values
        *parents, last = key.split(".")
        for parent in parents:
            table = table.setdefault(parent, {})
        table[last] = _parse(environment[name], info.annotation)
    return values


def _parse(text: str, annotation: Any) -> Any:
    """Text stays text; lists, tables and numbers are read as TOML."""
    origin = get_origin(annotation)
    options = get_args(annotation) if origin in (Union, UnionType) else (annotation,)
    if str in options:
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return [part.strip() for part in text.split(",")] if origin is tuple else text


def _explain(error: ValidationError, origins: Mapping[str, str]) -> UserError:
    """Which layer, which key, what was given, what is allowed, and near names."""
    lines = []
    for problem in error.errors(include_url=False):
        key = ".".join(str(step) for step in problem["loc"])
        where = _origin(key, origins)
        if problem["type"] == "extra_forbidden":
            siblings = {known for known, _ in leaves()} | {k.split(".")[0] for k, _ in leaves()}
            near = difflib.get_close_matches(key, siblings, 2, 0.6)
            said = tr("{where}: {key} is not a setting.", where=where, key=key)
            if near:
                said += " " + tr("Did you mean {names}?", names=either(near))
            lines.append(said)
        else:
            values = {"given": repr(problem["input"])[:80], "expected": expectation(problem)}
            told = tr("{where}: {key} is {given}; {expected}.", where=where, key=key, **values)
            lines.append(told)
    hint = tr("`agent config` lists every setting; config.example.toml explains them.")
    return UserError("\n".join(lines), hint=hint)


def _origin(key: str, origins: Mapping[str, str]) -> str:
    """The layer a key came from; a wrong item of a list has its list's."""
    while key not in origins and "." in key:
        key = key.rpartition(".")[0]
    return origins.get(key) or tr("configuration")
