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


@dataclass(frozen=True)
class Link:
    """A way to one server."""

    transport: Any
    closed: asyncio.Event
    get_remarks: Callable[[], tuple[Remark, ...]]
    """What is worth telling about how it behaves."""
    sign_in: SignIn | None = None
    """None for a process of ours."""

    @property
    def wants_sign_in(self) -> bool:
        """Whether the user would have had to sign in."""
        return self.sign_in is not None and self.sign_in.was_needed


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

    async def _http(self, server: Server, show: Callable[[str], None] | None) -> Link:
        table = server.table
        headers = server.fill_in(table.headers, self._surroundings.variables)
        sign_in = SignIn(table.url, self.tokens(server), show)
        has_own = any(name.lower() == "authorization" for name in headers)
        auth = None if has_own else await sign_in.provider()
        closed = asyncio.Event()
        notes: list[Remark] = []
        streams = http_streams(table.url, headers, auth, closed, notes.append)
        return Link(streams, closed, lambda: tuple(notes[-3:]), sign_in)

    def _process(self, server: Server) -> Link:
        table, around = server.table, self._surroundings
        directory = os.path.join(around.workspace, table.cwd or ".")  # noqa: PTH118 (text)
        launch = ServerLaunch(
            argv=(table.command, *table.args),
            directory=directory,
            environment=around.environment(server.fill_in(table.env, around.variables)),
            mark=self._watchdog.new_mark(),
        )
        process = ServerProcess(launch)
        return Link(process, process.closed, lambda: process.remarks)
