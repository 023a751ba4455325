"""A server on the network, by streamable HTTP, within bounds."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from agent_cli.extensions.mcp.mending import Mended
from agent_cli.extensions.mcp.process import LONGEST_LINE, Streams

SESSION = "mcp-session-id"
FORGOTTEN = (400, 404)
"""What servers answer to a session they do not know."""


class TooLong(httpx2.TransportError):
    """An answer that does not end."""


class _Bounded(httpx2.AsyncByteStream):
    """The body of an answer, up to a size; an event stream may go on, its events are bounded."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > LONGEST_LINE:
                raise TooLong(f"the answer is larger than {LONGEST_LINE // 1_000_000} MB")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


@asynccontextmanager
async def http_streams(
    url: str, headers: Mapping[str, str], auth: httpx2.Auth | None, closed: asyncio.Event
) -> AsyncIterator[Streams]:
    """The streams of a connection; what they carry is JSON-RPC, as with a process.

    `closed` is set when the server no longer knows the connection, because it was started anew.
    """

    async def look(response: httpx2.Response) -> None:
        if response.status_code in FORGOTTEN and SESSION in response.request.headers:
            closed.set()
        if "event-stream" not in response.headers.get("content-type", ""):
            response.stream = _Bounded(response.stream)

    client = create_mcp_http_client(headers=dict(headers), auth=auth)
    client.event_hooks = {"request": [], "response": [look]}
    connected = streamable_http_client(url, http_client=client, max_sse_event_size=LONGEST_LINE)
    async with client, connected as (read, write):
        yield Mended(read), write
