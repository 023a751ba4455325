"""Ways to servers: a process of ours, or an address."""

import asyncio
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_cli.extensions.mcp.http import http_streams
from agent_cli.extensions.mcp.process import Remark, ServerLaunch, ServerProcess
from agent_cli.extensions.mcp.signing_in import SignIn, Tokens
from agent_cli.extensions.mcp.spec import Server
from agent_cli.lib.watchdog import Watchdog


@dataclass(frozen=True, kw_only=True)
class ServerEnvironment:
    """What servers are given of the world."""

    workspace: Path
    environment: Callable[[Mapping[str, str]], dict[str, str]]
    """The variables of a child process, with these added."""
    variables: Mapping[str, str]
    """The user's variables, for those that a configuration names."""
    tokens: Path


@dataclass
class ProcessLink:
    """A server that we start."""

    transport: ServerProcess

    @property
    def closed(self) -> asyncio.Event:
        return self.transport.closed

    @property
    def remarks(self) -> tuple[Remark, ...]:
        return self.transport.remarks

    @property
    def wants_sign_in(self) -> bool:
        return False


@dataclass
class HttpLink:
    """A server that is there already."""

    transport: Any
    sign_in: SignIn
    closed: asyncio.Event
    notes: list[Remark]

    @property
    def remarks(self) -> tuple[Remark, ...]:
        return tuple(self.notes[-3:])

    @property
    def wants_sign_in(self) -> bool:
        return self.sign_in.was_needed


Link = ProcessLink | HttpLink


class Links:
    """Opens links; `show` is given the address at which the user signs in."""

    def __init__(self, surroundings: ServerEnvironment, watchdog: Watchdog) -> None:
        self._surroundings = surroundings
        self._watchdog = watchdog

    def tokens(self, server: Server) -> Tokens:
        """What is kept for a server that wants the user to sign in."""
        return Tokens(self._surroundings.tokens / f"{server.key}.json")

    async def open(self, server: Server, show: Callable[[str], None] | None = None) -> Link:
        """A way to the server, good for one connection."""
        return await self._http(server, show) if server.table.url else self._process(server)

    async def _http(self, server: Server, show: Callable[[str], None] | None) -> HttpLink:
        table = server.table
        headers = server.fill_in(table.headers, self._surroundings.variables)
        sign_in = SignIn(table.url, self.tokens(server), show)
        has_own = any(name.lower() == "authorization" for name in headers)
        auth = None if has_own else await sign_in.provider()
        closed = asyncio.Event()
        notes: list[Remark] = []
        streams = http_streams(table.url, headers, auth, closed, notes.append)
        return HttpLink(streams, sign_in, closed, notes)

    def _process(self, server: Server) -> ProcessLink:
        table, around = server.table, self._surroundings
        directory = os.path.join(around.workspace, table.cwd or ".")  # noqa: PTH118 (text)
        launch = ServerLaunch(
            argv=(table.command, *table.args),
            directory=directory,
            environment=around.environment(server.fill_in(table.env, around.variables)),
            mark=self._watchdog.new_mark(),
        )
        return ProcessLink(ServerProcess(launch))
