"""The MCP servers of a session: approved ones are connected, the others are told about."""

import asyncio
import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agent_cli.core.tool import AnyTool
from agent_cli.extensions.inbox_asker import Asker
from agent_cli.extensions.mcp.approved_servers import ApprovedServers
from agent_cli.extensions.mcp.mcp_tools import make_tool
from agent_cli.extensions.mcp.schemas import Unusable
from agent_cli.extensions.mcp.search import NAME as SEARCH
from agent_cli.extensions.mcp.search import HiddenTools
from agent_cli.extensions.mcp.spec import Configured, Server
from agent_cli.extensions.registrar import Registrar
from agent_cli.lib.language import mark, tr, trn
from agent_cli.lib.threads import in_own_thread
from agent_cli.lib.watchdog import Watchdog
from agent_cli.safety.sanitise import visible

if TYPE_CHECKING:
    from agent_cli.extensions.mcp.links import Link, Links, ServerEnvironment
    from agent_cli.extensions.mcp.mcp_connection import Connection, ServerTimeouts
    from agent_cli.extensions.mcp.server_approval import ServerApproval


@dataclass(frozen=True, kw_only=True)
class ServersWanted:
    """What the servers of a session are, and how they are treated."""

    configured: Callable[[], Configured]
    """Reads the configuration; it looks at the disk."""
    approvals: Path
    surroundings: Callable[[], "ServerEnvironment"]
    most_tools: int = 40
    start_seconds: float = 30.0
    call_seconds: float = 120.0


@dataclass
class ServerRow:
    """One server and how it stands, for the user."""

    server: Server
    state: str
    problem: str = ""
    tools: tuple[str, ...] = ()


class Servers:
    """Starts, watches and ends connections; nobody waits for any of them."""

    def __init__(
        self,
        wanted: ServersWanted,
        registrar: Registrar,
        person: Asker,
        warn: Callable[[str, str], None],
    ) -> None:
        self._wanted = wanted
        self._registrar = registrar
        self._person = person
        self._warn = warn
        self._pins = ApprovedServers(wanted.approvals)
        self._watchdog = Watchdog()
        self._shelf = HiddenTools()
        self._found = Configured(())
        self._waiting: dict[str, str] = {}
        """Servers that may not be started, and why."""
        self._connections: dict[str, Connection] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._tools: dict[str, tuple[AnyTool, ...]] = {}
        self._told: dict[str, str] = {}

    async def start(self) -> None:
        """Read the configuration and begin to connect; again, only what changed is touched."""
        found = await in_own_thread(self._wanted.configured)
        for problem in found.problems:
            if problem not in self._found.problems:
                self._warn(problem, "")
        kept = {server.name: server for server in found.servers}
        for server in self._found.servers:
            if kept.get(server.name) != server:
                await self._leave(server)
        fresh = [server for server in found.servers if server not in self._found.servers]
        self._found = found
        for server in fresh:
            await self._admit(server)
        if waiting := [server.name for server in fresh if server.name in self._waiting]:
            names = tr(", ").join(
                tr("{name} ({state})", name=name, state=tr(self._waiting[name])) for name in waiting
            )
            said = trn(
                "{n:,} MCP server not started: {names}.",
                "{n:,} MCP servers not started: {names}.",
                len(waiting),
                names=names,
            )
            self._warn(said, tr("/mcp approve {name} shows the details.", name=waiting[0]))

    async def wait_ready(self) -> None:
        """Wait until each connection has come to something."""
        for connection in tuple(self._connections.values()):
            await connection.has_settled.wait()

    @property
    def rows(self) -> tuple[ServerRow, ...]:
        """Every configured server."""
        return tuple(map(self.row_of, self._found.servers))

    def row_of(self, server: Server) -> ServerRow:
        """One server."""
        connection = self._connections.get(server.name)
        if connection is None:
            return ServerRow(server, self._waiting.get(server.name, mark("not started")))
        names = tuple(tool.name for tool in self._tools.get(server.name, ()))
        return ServerRow(server, connection.state, connection.problem, names)

    def find(self, name: str) -> Server | None:
        """The configured server of this name."""
        return next((server for server in self._found.servers if server.name == name), None)

    async def approve(self, server: Server) -> str:
        """Let the user look at a server, and connect it if they agree; says what came of it."""
        approval = await self._approval()
        said = await approval.ask(server)
        if approval.is_given:
            await self.reconnect(server)
        return said

    async def reconnect(self, server: Server) -> None:
        """Connect again, and wait for what comes of it."""
        await self._leave(server)
        await self._admit(server)
        if connection := self._connections.get(server.name):
            await connection.has_settled.wait()

    async def sign_in(self, server: Server, show: Callable[[str], None]) -> str:
        """Let the user sign in to a server; says what came of it."""
        approval = await self._approval()
        said = await approval.sign_in(server, show)
        await self.reconnect(server)
        return said

    async def close(self) -> None:
        """End all of them."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        await in_own_thread(self._watchdog.close)

    # ── single servers ───────────────────────────────────────────────────────────────────────────

    async def _admit(self, server: Server) -> None:
        """Connect a server, if it is what was approved."""
        pin = self._pins.get(server)
        if pin is None or pin.launch != server.launch:
            self._waiting[server.name] = mark("not approved") if pin is None else mark("changed")
            return
        links, limits = await self._load()
        from agent_cli.extensions.mcp.mcp_connection import (  # noqa: PLC0415 (slow)
            Connection,
            LaunchChanged,
        )

        async def open_link() -> "Link":
            if pin.launch != await in_own_thread(lambda: server.launch):
                raise LaunchChanged
            return await links.open(server)

        connection = Connection(server, pin.tools, open_link, limits, self._on_change)
        self._connections[server.name] = connection
        self._tasks[server.name] = asyncio.create_task(connection.run())

    async def _leave(self, server: Server) -> None:
        self._waiting.pop(server.name, None)
        self._told.pop(server.name, None)
        self._connections.pop(server.name, None)
        if task := self._tasks.pop(server.name, None):
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        self._offer(server, ())

    def _on_change(self, connection: "Connection") -> None:
        """A connection came, went, or came to nothing."""
        server = connection.server
        name, problem = server.name, visible(connection.problem, one_line=True)
        match connection.state:
            case "ready":
                self._told.pop(name, None)
                self._offer(server, self._make_tools(connection))
                return
            case "lost":
                text = tr("The MCP server {name} is not responding: {why}.", name=name, why=problem)
                if self._told.get(name) != text:
                    self._told[name] = text
                    self._warn(text, tr("Retrying."))
                return
            case "changed":
                text = tr("Disabled the MCP server {name}: {why}.", name=name, why=problem)
                hint = tr("/mcp approve {name} shows the difference.", name=name)
            case "sign-in":
                text = tr("The MCP server {name} needs you to sign in.", name=name)
                hint = f"/mcp login {name}"
            case "failed":
                text = tr("Gave up on the MCP server {name}: {why}.", name=name, why=problem)
                hint = tr("/mcp reconnect {name} tries again.", name=name)
            case _:
                return
        self._offer(server, ())
        self._warn(text, hint)

    def _make_tools(self, connection: "Connection") -> Iterable[AnyTool]:
        """Its tools as ours; what cannot be one is told and left out."""
        server = connection.server
        for offer in connection.offers:
            try:
                yield make_tool(
                    offer,
                    server.name,
                    connection.call,
                    timeout=server.table.timeout or self._wanted.call_seconds,
                    is_enabled=self._is_offered,
                )
            except Unusable as problem:
                said = tr(
                    "Cannot use the tool {tool} of the MCP server {name}: {why}.",
                    name=server.name,
                    tool=visible(offer.name, one_line=True),
                    why=visible(str(problem), one_line=True),
                )
                self._warn(said, "")

    def _is_offered(self, name: str) -> bool:
        """Past a number of tools, only those that were asked for are."""
        return name in self._shelf.loaded or SEARCH not in self._registrar.tools_of(SEARCH)

    def _offer(self, server: Server, tools: Iterable[AnyTool]) -> None:
        made = tuple(tools)
        if not made and not self._tools.get(server.name):
            return
        self._tools[server.name] = made
        every = [tool for each in self._tools.values() for tool in each]
        many = len(every) > self._wanted.most_tools
        self._registrar.offer(SEARCH, (self._shelf.search_tool(every),) if many else ())
        self._registrar.offer(_source(server), made)

    # ── what is loaded only when the first server is ─────────────────────────────────────────────

    async def _load(self) -> "tuple[Links, ServerTimeouts]":
        module = "agent_cli.extensions.mcp.mcp_connection"
        await in_own_thread(lambda: importlib.import_module(module))
        from agent_cli.extensions.mcp.links import Links  # noqa: PLC0415 (slow)
        from agent_cli.extensions.mcp.mcp_connection import ServerTimeouts  # noqa: PLC0415

        limits = ServerTimeouts(self._wanted.start_seconds, self._wanted.call_seconds)
        return Links(self._wanted.surroundings(), self._watchdog), limits

    async def _approval(self) -> "ServerApproval":
        links, limits = await self._load()
        from agent_cli.extensions.mcp.server_approval import ServerApproval  # noqa: PLC0415 (slow)

        return ServerApproval(self._pins, links, limits, self._person)


def _source(server: Server) -> str:
    return tr("MCP server {name} ({file})", name=server.name, file=server.source)
