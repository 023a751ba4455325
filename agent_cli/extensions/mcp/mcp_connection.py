"""One MCP server under way: connected, listed, called, and connected again when it went away."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal

from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, Implementation

from agent_cli import __version__
from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.core.tool import ToolResult
from agent_cli.core.tool_context import ToolContext
from agent_cli.extensions.mcp.approved_servers import OfferedTool, tool_lines
from agent_cli.extensions.mcp.links import Link
from agent_cli.extensions.mcp.mcp_results import convert_result
from agent_cli.extensions.mcp.process import DROPPED
from agent_cli.extensions.mcp.spec import Server
from agent_cli.lib.language import mark, tr
from agent_cli.safety.sanitise import clean

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0
"""Seconds before the first try to connect again, and at most."""
MAX_TRIES = 8
"""In a row, without having been connected for a while in between."""
STEADY = 30.0
"""Seconds after which a connection counts as good."""
AWAITED = 20.0
"""Seconds that a call waits for a server that is just being connected again."""
MAX_TOOLS = 500
MAX_PAGES = 50
RELIST_PAUSE_S = 1.0

_US = Implementation(name="agent", version=__version__)

State = Literal["connecting", "ready", "lost", "changed", "sign-in", "failed", "closed"]

for _name in ("mcp", "httpx2", "httpcore2"):  # they must not write across the screen
    logging.getLogger(_name).addHandler(logging.NullHandler())
    logging.getLogger(_name).propagate = False


class ServerProblem(Exception):
    """Something wrong with a server, in words of ours: a marked text and its values."""

    def __init__(self, text: str, **values: object) -> None:
        super().__init__(text.format(**values))
        self.remark = (text, values)


class LaunchChanged(ServerProblem):
    """A server that would not be started as it was approved, by now."""

    def __init__(self) -> None:
        super().__init__(mark("what it runs changed since you approved it"))


class ToolsChanged(ServerProblem):
    """A server whose tools are not those that were approved."""

    def __init__(self, offers: tuple[OfferedTool, ...]) -> None:
        super().__init__(mark("its tools changed since you approved them"))
        self.offers = offers


@dataclass(frozen=True)
class ServerTimeouts:
    """How long is waited for a server."""

    start: float = 30.0
    call: float = 120.0


class Connection:
    """Keeps one approved server connected. Whatever the server does stays its own problem."""

    def __init__(
        self,
        server: Server,
        approved: tuple[str, ...] | None,
        open_link: Callable[[], Awaitable[Link]],
        limits: ServerTimeouts,
        changed: Callable[["Connection"], None],
    ) -> None:
        self.server = server
        self.state: State = "connecting"
        self.problem = ""
        self.offers: tuple[OfferedTool, ...] = ()
        self.link: Link | None = None
        self._approved = approved
        """The lines about its tools that the user agreed to; None: to whatever it has."""
        self._open_link = open_link
        self._limits = limits
        self._tell = changed
        self._client: Client | None = None
        self._ready = asyncio.Event()
        self._lost = asyncio.Event()
        self._list_changed = asyncio.Event()
        self.has_settled = asyncio.Event()
        """Set when the first try to connect has come to something."""

    async def run(self) -> None:
        """Stay connected until cancelled, or until there is no point in it any more."""
        tries = 0
        while True:
            started = time.monotonic()
            try:
                await self._connect_and_stay()
                self._set("lost", tr("the connection was lost"))
            except Exception as error:  # a foreign server's: it is told and tried again
                for change in _leaves(error):
                    if isinstance(change, ToolsChanged | LaunchChanged):
                        self.offers = change.offers if isinstance(change, ToolsChanged) else ()
                        self._set("changed", why(change))
                        return
                if self.link is not None and self.link.wants_sign_in:
                    self._set("sign-in", tr("it needs you to sign in"))
                    return
                self._set("lost", why(error, self.link))
            tries = 1 if time.monotonic() - started > STEADY else tries + 1
            if tries >= MAX_TRIES:
                self._set("failed", self.problem)
                return
            await asyncio.sleep(min(FIRST_PAUSE * 2 ** (tries - 1), LONGEST_PAUSE))

    async def call(self, tool: str, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """Call one of its tools."""
        name = self.server.name

        async def show(
            progress: float, total: float | None = None, message: str | None = None
        ) -> None:
            done = f"{progress:g}"
            if total:
                done = tr("{done:g} of {total:g}", done=progress, total=total)
            words = f": {clean(message)[:200]}" if message else ""
            context.progress(f"{done}{words}\n")

        client = await self._connect_once()
        try:
            result = await client.call_tool(tool, arguments, progress_callback=show)
        except MCPError as error:
            if self._is_gone(error):
                self._lose()
                raise ToolFailure(
                    f"The MCP server {name} disconnected during the call, which may have had some "
                    f"effect ({why(error, self.link, str.format)}). It is reconnecting."
                ) from error
            raise ToolFailure(f"The MCP server {name} answered: {error.message[:2000]}") from error
        except ValueError as error:  # pydantic's among them
            said = _describe(error, str.format)
            raise ToolFailure(f"The MCP server {name} sent an invalid result: {said}") from error
        except Exception as error:
            self._lose()
            said = _describe(error, str.format)
            raise ToolFailure(f"The MCP server {name} failed: {said}") from error
        return convert_result(result, name, takes_images=context.session.takes_images)

    def _is_gone(self, error: MCPError) -> bool:
        if self.link is not None and self.link.closed.is_set():
            return True
        return error.code == CONNECTION_CLOSED and error.data != DROPPED

    def _lose(self) -> None:
        """Whoever calls from now on waits for the next connection."""
        self._client = None
        self._ready.clear()
        self.state = "lost"
        self._lost.set()

    async def _connect_once(self) -> Client:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(AWAITED if self.state in ("connecting", "lost") else 0):
                await self._ready.wait()
        if self._client is None:
            raise ToolFailure(
                f"The MCP server {self.server.name} is not connected. Continue without it, "
                "or tell the user, who can see why with /mcp.",
                type=FailureType.EXECUTION,
            )
        return self._client

    async def _connect_and_stay(self) -> None:
        self._lost.clear()
        self._list_changed.clear()
        async with AsyncExitStack() as stack:
            async with _patience(self._limits.start):
                self.link = link = await self._open_link()
                client = await stack.enter_async_context(
                    Client(link.transport, cache=None, message_handler=self._hear, client_info=_US)
                )
                self._take(await _list_tools(client))
            self._client = client
            self._ready.set()
            self._set("ready", "")
            try:
                await self._stay(client, link)
            finally:
                self._client = None
                self._ready.clear()

    async def _stay(self, client: Client, link: Link) -> None:
        """Return when the connection is lost; notice when the tools change."""
        listening = asyncio.create_task(self._listen(client))
        try:
            while True:
                waits = [
                    asyncio.create_task(event.wait())
                    for event in (link.closed, self._lost, self._list_changed)
                ]
                try:
                    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    for task in waits:
                        task.cancel()
                if link.closed.is_set() or self._lost.is_set():
                    return
                await asyncio.sleep(RELIST_PAUSE_S)
                self._list_changed.clear()
                async with _patience(self._limits.start):
                    self._take(await _list_tools(client))
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)

    async def _listen(self, client: Client) -> None:
        """Newer servers tell of changes only to those who ask for it."""
        with contextlib.suppress(Exception):  # older ones do not know the question
            async with client.listen(tools_list_changed=True) as events:
                async for _event in events:
                    self._list_changed.set()

    async def _hear(self, message: Any) -> None:
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            self._list_changed.set()

    def _take(self, offers: tuple[OfferedTool, ...]) -> None:
        if self._approved is not None and tool_lines(offers) != self._approved:
            raise ToolsChanged(offers)
        self.offers = offers

    def _set(self, state: State, problem: str) -> None:
        self.state, self.problem = state, problem
        self.has_settled.set()
        self._tell(self)


async def look(link: Link, limits: ServerTimeouts) -> tuple[OfferedTool, ...]:
    """The tools of a server that is connected just to see them."""
    connected = Client(link.transport, cache=None, client_info=_US)
    async with _patience(limits.start), connected as client:
        return await _list_tools(client)


@asynccontextmanager
async def _patience(seconds: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        text = mark("it did not respond within {seconds:g} s")
        raise ServerProblem(text, seconds=seconds) from error


def why(error: BaseException, link: Link | None = None, say: Callable[..., str] = tr) -> str:
    """What went wrong with a server, in the words of `say`."""
    remarks = link.get_remarks() if link is not None else ()
    return "; ".join([_describe(error, say), *(say(text, **values) for text, values in remarks)])


async def _list_tools(client: Client) -> tuple[OfferedTool, ...]:
    """All tools, page by page, up to a number."""
    offers: list[OfferedTool] = []
    cursor = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        offers += [_offer(tool) for tool in page.tools]
        if len(offers) > MAX_TOOLS:
            raise ServerProblem(mark("it has more than {most} tools"), most=MAX_TOOLS)
        cursor = page.next_cursor
        if cursor is None:
            return tuple(offers)
    raise ServerProblem(mark("its list of tools does not end"))


def _offer(tool: Any) -> OfferedTool:
    claims = tool.annotations.model_dump(exclude_none=True) if tool.annotations else {}
    return OfferedTool(
        name=tool.name,
        title=tool.title or "",
        description=tool.description or "",
        schema=tool.input_schema,
        annotations=claims,
    )


def _leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for each in error.exceptions for leaf in _leaves(each)]
    return [error]


def _describe(error: BaseException, say: Callable[..., str]) -> str:
    first = _leaves(error)[0]
    if isinstance(first, ServerProblem):
        text, values = first.remark
        return say(text, **values)
    if isinstance(first, MCPError):
        return " ".join(clean(first.message).split())[:300]
    if isinstance(first, FileNotFoundError):
        return say(mark("{path} does not exist"), path=first.filename)
    words = " ".join(clean(str(first)).split())[:300]
    return words or type(first).__name__
