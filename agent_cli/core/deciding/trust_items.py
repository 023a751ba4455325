"""What trusting a folder would enable. It only reads, and has bounds."""

import hashlib
import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from agent_cli.core.system_prompt import instruction_files
from agent_cli.lib.files import open_regular
from agent_cli.lib.language import tr
from agent_cli.safety.scripts import digest, named_scripts

SETTINGS = ".agent"
TOOLS = ".agent/tools"
PROFILES = ".agent/agents"
COMMANDS = (".agent/commands", ".claude/commands")
"""Where a project's slash commands lie."""
SKILLS = (".agent/skills", ".agents/skills", ".claude/skills")
"""Where a project's skills lie, each a directory with a SKILL.md."""
SKILL_FILE = "SKILL.md"
SERVERS = ".mcp.json"
MAX_FILES = 1_000
MAX_FILE_BYTES = 10_000_000
MAX_DETAIL_CHARS = 20_000
"""Of what a project sets and runs; the user must be able to see all of it."""

Kind = Literal["settings", "instructions", "servers", "extension", "script"]


class TooMuch(Exception):
    """The folder holds more than can be looked at; so it cannot be trusted."""


@dataclass(frozen=True)
class TrustItem:
    """One file that has an effect once the folder is trusted."""

    kind: Kind
    path: str
    """Absolute: instructions may lie above the workspace, up to the repository's root."""
    detail: str
    """What it would do, in words."""
    sha256: str


def what_trust_enables(root: Path, own_settings: Path | None = None) -> tuple[TrustItem, ...]:
    """The files that trust would put into effect, as they are now; raises TooMuch.

    `own_settings` is the user's own file: its hooks, too, may run scripts of the folder.
    """
    found: list[TrustItem] = []
    for path in _files_below(root / SETTINGS):
        is_settings = path == root / SETTINGS / "config.toml"
        found.append(_item("settings" if is_settings else "extension", path))
    found += [_item("extension", path) for path in _others_below(root)]
    if _is_there(root / SERVERS):
        found.append(_item("servers", root / SERVERS))
    found += [_item("instructions", path) for path in instruction_files(root)]
    found += [
        TrustItem("script", path, tr("run by the hook {command}", command=command), digest(path))
        for path, command in sorted(_hook_scripts(root, own_settings).items())
    ]
    return tuple(found)


def _hook_scripts(root: Path, own_settings: Path | None) -> dict[str, str]:
    """The files in the folder that hooks run, each with the command of one of them."""
    found: dict[str, str] = {}
    for file in (root / SETTINGS / "config.toml", own_settings):
        try:
            hooks = tomllib.loads(file.read_text("utf-8")).get("hooks", ()) if file else ()
        except (OSError, ValueError):
            continue
        for hook in hooks if isinstance(hooks, list) else ():
            command = str(hook.get("command", "")) if isinstance(hook, dict) else ""
            found |= dict.fromkeys(named_scripts(command, str(root)), command)
    return found


def _others_below(root: Path) -> Iterator[Path]:
    """What is read from the folders of other agents: commands whole, of skills what describes
    them; whatever lies beside is read only when the model asks for it."""
    for name in COMMANDS:
        if not name.startswith(SETTINGS + "/"):
            yield from _files_below(root / name)
    for name in SKILLS:
        directory = root / name
        if name.startswith(SETTINGS + "/") or directory.is_symlink():
            continue
        files = sorted(directory.glob(f"*/{SKILL_FILE}"))
        if len(files) > MAX_FILES:
            raise TooMuch(
                tr("{path} holds more than {most:,} skills", path=directory, most=MAX_FILES)
            )
        yield from files


def _files_below(directory: Path) -> Iterator[Path]:
    """Everything but directories, in a fixed order; links below are not followed into directories.

    Where the directory itself is a link, both the link and what it leads to count.
    """
    if directory.is_symlink():
        yield directory
    count = 0
    for parent, directories, names in os.walk(directory):
        directories.sort()
        links = [name for name in directories if Path(parent, name).is_symlink()]
        for name in sorted([*names, *links]):
            count += 1
            if count > MAX_FILES:
                raise TooMuch(
                    tr("{path} holds more than {most:,} files", path=directory, most=MAX_FILES)
                )
            yield Path(parent, name)


def _item(kind: Kind, path: Path) -> TrustItem:
    leads, data = _content(path)
    is_link = str(path.is_symlink()).encode()
    hashed = hashlib.sha256(is_link + b"\0" + leads + data).hexdigest()
    detail = _detail(kind, path, data)
    if len(detail) > MAX_DETAIL_CHARS:
        raise TooMuch(tr("{path} sets more than can be shown", path=path))
    if path.is_symlink():
        link = tr("a link to {path}", path=path.readlink())
        detail = f"{link}: {detail}" if kind in ("settings", "servers") else link
    return TrustItem(kind, str(path), detail, hashed)


def _is_there(path: Path) -> bool:
    return path.is_symlink() or path.exists()


def _content(path: Path) -> tuple[bytes, bytes]:
    """Where a link leads, and the content of the file or of the file it leads to."""
    leads = b""
    try:
        if path.is_symlink():
            leads = os.fsencode(path.readlink()) + b"\0"
        with os.fdopen(open_regular(path.resolve()), "rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (OSError, RuntimeError) as error:
        return leads, type(error).__name__.encode()
    if len(data) > MAX_FILE_BYTES:
        raise TooMuch(tr("{path} is larger than {most:,} bytes", path=path, most=MAX_FILE_BYTES))
    return leads, data


def _detail(kind: str, path: Path, data: bytes) -> str:
    text, count = data.decode("utf-8", "replace"), len(data)
    if kind == "settings":
        return _settings(text)
    if kind == "servers":
        return _servers(text)
    if kind == "instructions":
        return tr("{count:,} bytes of instructions for the model", count=count)
    if TOOLS in path.as_posix() and path.suffix == ".py":
        return tr("{count:,} bytes of Python, which run in this program as a tool", count=count)
    if PROFILES in path.as_posix() and path.suffix == ".md":
        return tr("{count:,} bytes of a profile: a role with words for the model", count=count)
    if path.name == SKILL_FILE:
        return tr("{count:,} bytes of a skill, offered to the model", count=count)
    if path.suffix == ".md" and any(f"/{name}/" in path.as_posix() for name in COMMANDS):
        return tr("{count:,} bytes of a slash command, sent as a prompt", count=count)
    return tr("{count:,} bytes", count=count)


def _settings(text: str) -> str:
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return tr("is not valid TOML")
    told = {key: f"{key} = {json.dumps(value, default=str)}" for key, value in _leaves(table)}
    return "; ".join(filter(None, (told.pop("hooks", ""), *told.values())))


def _leaves(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def _servers(text: str) -> str:
    try:
        servers = json.loads(text)["mcpServers"].items()
        return "; ".join(f"{name}: {_server(server)}" for name, server in servers)
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return tr("is not readable as a list of servers")


def _server(server: Mapping[str, Any]) -> str:
    if "url" in server:
        return str(server["url"])
    return " ".join(map(str, (server.get("command"), *server.get("args", ()))))
