"""Adds servers to configuration files and takes them out again; everything else stays as it is."""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_cli.core.errors import UserError
from agent_cli.extensions.mcp.spec import read_json
from agent_cli.lib.files import write_atomic
from agent_cli.lib.language import tr


def add_to_toml(path: Path, name: str, table: Mapping[str, Any]) -> None:
    """Add `[mcp.servers.NAME]` at the end of a TOML file; raises UserError or OSError."""
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    if name in _parse(before, path).get("mcp", {}).get("servers", {}):
        raise _is_there(path, name)
    lines = [f"{key} = {_toml(value)}" for key, value in table.items() if value]
    added = "\n".join([f"[mcp.servers.{name}]", *lines])
    gap = "" if not before else "\n" if before.endswith("\n") else "\n\n"
    _write(path, f"{before}{gap}{added}\n", is_private=_holds_values(table))


def remove_from_toml(path: Path, name: str) -> None:
    """Take `[mcp.servers.NAME]` and its sub-tables out; raises UserError if that is not clear."""
    before = path.read_text(encoding="utf-8")
    wanted = _parse(before, path)
    del wanted["mcp"]["servers"][name]
    key = rf"(?:{re.escape(name)}|\"{re.escape(name)}\"|'{re.escape(name)}')"
    own = re.compile(rf"[ \t]*\[[ \t]*mcp[ \t]*\.[ \t]*servers[ \t]*\.[ \t]*{key}[ \t]*(?:\..*)?\]")
    after = _without(before, own)
    try:
        found = tomllib.loads(after)
    except tomllib.TOMLDecodeError:
        found = {}
    if _without_empty(found) != _without_empty(wanted):
        raise UserError(
            tr("Cannot safely remove {name} from {path}.", name=name, path=path),
            hint=tr("Edit it by hand."),
        )
    _write(path, after)


def _without(text: str, header: re.Pattern[str]) -> str:
    """A TOML text without the tables of this header; what stands above the next table stays."""
    kept: list[str] = []
    between: list[str] = []
    is_inside = False
    for line in text.splitlines(keepends=True):
        if header.match(line):
            if not is_inside and kept and not kept[-1].strip():
                kept.pop()
            is_inside, between = True, []
        elif line.lstrip().startswith("["):
            kept += [*between, line]
            is_inside, between = False, []
        elif not is_inside:
            kept.append(line)
        elif line.lstrip().startswith("#") or not line.strip():
            between.append(line)
        else:
            between = []
    return "".join(kept)


def add_to_json(path: Path, name: str, table: Mapping[str, Any]) -> None:
    """Add a server to a `.mcp.json`; raises UserError or OSError."""
    known = _json(path)
    if name in known["mcpServers"]:
        raise _is_there(path, name)
    known["mcpServers"][name] = {key: value for key, value in table.items() if value}
    text = json.dumps(known, indent=2, ensure_ascii=False) + "\n"
    _write(path, text, is_private=_holds_values(table))


def remove_from_json(path: Path, name: str) -> None:
    """Take a server out of a `.mcp.json`."""
    known = _json(path)
    del known["mcpServers"][name]
    _write(path, json.dumps(known, indent=2, ensure_ascii=False) + "\n")


def _json(path: Path) -> dict[str, Any]:
    try:
        read_json(path)
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except ValueError as error:
        raise UserError(tr("{what}.", what=error)) from error
    return {**known, "mcpServers": dict(known.get("mcpServers", {}))}


def _parse(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UserError(tr("{path} is not valid TOML: {error}.", path=path, error=error)) from error


def _is_there(path: Path, name: str) -> UserError:
    return UserError(tr("{path} already has an MCP server named {name}.", path=path, name=name))


def _without_empty(value: Any) -> Any:
    """Tables without those that hold nothing: a header alone says nothing."""
    if not isinstance(value, dict):
        return value
    kept = {key: _without_empty(each) for key, each in value.items()}
    return {key: each for key, each in kept.items() if each != {}}


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items())
        return f"{{ {pairs} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _holds_values(table: Mapping[str, Any]) -> bool:
    """Whether somebody who reads it could learn a key."""
    return bool(table.get("headers") or table.get("env"))


def _write(path: Path, text: str, *, is_private: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, text.encode(), mode=0o600 if is_private else None)
