"""A server on the network, by streamable HTTP, within bounds."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from agent_cli.core.errors import ToolFailure
from agent_cli.extensions.mcp.process import MAX_LINE_CHARS, Remark, Streams
from agent_cli.extensions.mcp.tool_list_repair import RepairedStream
from agent_cli.extensions.web.address import Address, resolve
from agent_cli.lib.language import mark

SESSION = "mcp-session-id"
FORGOTTEN = (400, 404)
"""What servers answer to a session they do not know."""


class TooLong(httpx2.TransportError):
    """An answer that does not end."""


class _Bounded(httpx2.AsyncByteStream):
    """The body of an answer, up to a size; of an event stream, each event up to that size."""

    def __init__(self, inner: Any, note: Callable[[Remark], None], *, is_events: bool) -> None:
        self._inner = inner
        self._note = note
        self._is_events = is_events

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if self._is_events and (b"\n\n" in chunk or b"\r\n\r\n" in chunk):
                size = 0
            if size > MAX_LINE_CHARS:
                text = mark("its response was more than {limit} MB and was dropped")
                values = {"limit": MAX_LINE_CHARS // 1_000_000}
                self._note((text, values))
                raise TooLong(text.format(**values))
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


async def _connect_to_public(request: httpx2.Request) -> None:
    """Bind a request to an address that was looked at; raises if that is a private one."""
    try:
        ip, *_ = await resolve(Address.parse(str(request.url)), ())
    except (ToolFailure, ValueError) as problem:
        text = mark("it sends the sign-in to {host}, which is not a public address")
        raise httpx2.RequestError(text.format(host=request.url.host)) from problem
    request.extensions["sni_hostname"] = request.url.host
    request.url = request.url.copy_with(host=ip)


@asynccontextmanager
async def http_streams(
    url: str,
    headers: Mapping[str, str],
    auth: httpx2.Auth | None,
    closed: asyncio.Event,
    note: Callable[[Remark], None],
) -> AsyncIterator[Streams]:
    """The streams of a connection; what they carry is JSON-RPC, as with a process.

    `closed` is set when the server no longer knows the connection, because it was started anew;
    `note` is told what is worth telling.
    """

    async def look(response: httpx2.Response) -> None:
        if response.status_code in FORGOTTEN and SESSION in response.request.headers:
            closed.set()
        is_events = "event-stream" in response.headers.get("content-type", "")
        response.stream = _Bounded(response.stream, note, is_events=is_events)

    own_host = httpx2.URL(url).host

    async def check(request: httpx2.Request) -> None:
        """Where a server sends us to sign in is its own host, or a public address."""
        if request.url.host != own_host:
            await _connect_to_public(request)

    client = create_mcp_http_client(headers=dict(headers), auth=auth)
    client.event_hooks = {"request": [check], "response": [look]}
    connected = streamable_http_client(url, http_client=client, max_sse_event_size=MAX_LINE_CHARS)
    async with client, connected as (read, write):
        yield RepairedStream(read), write
