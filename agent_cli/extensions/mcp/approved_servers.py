"""What the user approved of each MCP server, to the letter; any change asks again."""

import difflib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_cli.extensions.mcp.spec import Server
from agent_cli.lib.files import open_regular, private_directory, write_atomic
from agent_cli.lib.language import mark

MAX_BYTES = 20_000_000


@dataclass(frozen=True)
class OfferedTool:
    """A tool as its server describes it: the facts that are pinned."""

    name: str
    title: str
    description: str
    schema: Mapping[str, Any]
    annotations: Mapping[str, Any]

    def lines(self, say: Callable[..., str]) -> list[str]:
        """All of it in the words of `say`, to read and to compare."""
        head = say(mark("tool {name}"), name=self.name)
        if self.title:
            head = say(mark("tool {name} ({title})"), name=self.name, title=self.title)
        told = [f"    {line}" for line in self.description.splitlines()]
        schema = say(mark("    parameters {schema}"), schema=_canonical(self.schema))
        lines = [head, *told, schema]
        if self.annotations:
            lines.append(say(mark("    claims {claims}"), claims=_canonical(self.annotations)))
        return lines


@dataclass(frozen=True)
class ApprovedServer:
    """What was approved: how the server is reached, and every word about its tools."""

    launch: tuple[str, ...]
    tools: tuple[str, ...]


def tool_lines(
    offers: Iterable[OfferedTool], say: Callable[..., str] = str.format
) -> tuple[str, ...]:
    """Every tool in full, in an order of our own: as it is pinned, or as `say` words it."""
    in_order = sorted(offers, key=lambda offer: offer.name)
    return tuple(line for offer in in_order for line in offer.lines(say))


class ApprovedServers:
    """One file for each server, in the user's state."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def get(self, server: Server) -> ApprovedServer | None:
        """What was approved of this server; what cannot be read was not approved."""
        try:
            with os.fdopen(open_regular(self._file(server)), "rb") as file:
                known = json.loads(file.read(MAX_BYTES))
            return ApprovedServer(tuple(map(str, known["launch"])), tuple(map(str, known["tools"])))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def approve(self, server: Server, pin: ApprovedServer) -> None:
        """Keep what the user agreed to; raises OSError."""
        entry = {
            "name": server.name,
            "source": server.source,
            "launch": pin.launch,
            "tools": pin.tools,
        }
        private_directory(self._directory)
        write_atomic(self._file(server), json.dumps(entry, indent=1).encode(), mode=0o600)

    def forget(self, server: Server) -> bool:
        """Approve of it no longer; False if it was not."""
        try:
            self._file(server).unlink()
        except FileNotFoundError:
            return False
        return True

    def _file(self, server: Server) -> Path:
        return self._directory / f"{server.key}.json"


def difference(before: Sequence[str], now: Sequence[str]) -> str:
    """A unified diff without its file names."""
    lines = list(difflib.unified_diff(before, now, lineterm="", n=2))
    return "\n".join(lines[2:])


def _canonical(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
