"""A session with MCP servers, configured as a person would."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agent_cli.core.inbox import Approval
from agent_cli.extensions.mcp.mcp_servers import ServerRow, Servers
from agent_cli.extensions.mcp.spec import Server
from tests.kit.extensions import Extended, extended
from tests.kit.sessions import HasSession

ODD = str(Path(__file__).with_name("odd_server.py"))
TIME = str(Path(sys.executable).with_name("mcp-server-time"))
NODE = Path(sys.prefix) / "node" / "node_modules" / ".bin"

needs_node_servers = pytest.mark.skipif(
    not (NODE / "mcp-server-everything").exists(),
    reason="the MCP servers from npm are not installed (make test does, where npm is)",
)


def odd(*arguments: str, **more: Any) -> dict[str, Any]:
    """The configuration of a server that misbehaves."""
    return {"command": sys.executable, "args": ["-I", ODD, *arguments], **more}


def configure(home: Path, servers: Mapping[str, Mapping[str, Any]]) -> Path:
    """Write the user's file."""
    path = home / ".config" / "agent" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(_table(name, table) for name, table in servers.items()))
    return path


def _table(name: str, table: Mapping[str, Any]) -> str:
    lines = [f"[mcp.servers.{name}]"]
    for key, value in table.items():
        if isinstance(value, dict):
            value = "{ " + ", ".join(f"{k} = {json.dumps(v)}" for k, v in value.items()) + " }"
        else:
            value = json.dumps(value)
        lines.append(f"{key} = {value}")
    return "\n".join(lines) + "\n\n"


class Served:
    """The MCP servers of a scene."""

    def __init__(self, world: Extended) -> None:
        self.world = world

    @property
    def servers(self) -> Servers:
        found = self.world.host.servers
        assert found is not None
        return found

    def server(self, name: str) -> Server:
        found = self.servers.find(name)
        assert found is not None
        return found

    def row(self, name: str) -> ServerRow:
        return self.servers.row_of(self.server(name))

    async def approve(self, name: str, answer: str = "once") -> str:
        """The person looks at a server and answers."""
        self.world.answer = lambda _: Approval.model_validate({"answer": answer})
        return await self.servers.approve(self.server(name))


async def served(scene: HasSession, *approved: str) -> Served:
    """The servers of a scene, these of them approved and connected."""
    made = Served(await extended(scene))
    for name in approved:
        said = await made.approve(name)
        assert said.startswith(f"Approved {name} with "), said
        assert made.row(name).state == "ready", made.row(name)
    return made
