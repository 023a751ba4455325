"""A web server that answers, byte for byte, what a test tells it to."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

Write = Callable[[bytes], Awaitable[None]]
Page = bytes | Callable[[Write], Awaitable[None]]


@dataclass(frozen=True)
class Got:
    """A request that arrived."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class WebServer:
    """Serves `pages` by path, and remembers what was asked."""

    port: int = 0
    pages: dict[str, Page] = field(default_factory=dict)
    got: list[Got] = field(default_factory=list)
    busy: set[asyncio.Task[None]] = field(default_factory=set)

    def url(self, path: str, host: str = "localhost", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}{path}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def write(data: bytes) -> None:
            writer.write(data)
            await writer.drain()

        task = asyncio.current_task()
        assert task is not None
        self.busy.add(task)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            first, *lines = head.strip().split("\r\n")
            headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            method, path, _ = first.split(" ")
            self.got.append(Got(method, path, headers, body))
            page = self.pages.get(path, answer(b"not here", status="404 Not Found"))
            if isinstance(page, bytes):
                await write(page)
            else:
                await page(write)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client had enough
        finally:
            self.busy.discard(task)
            writer.close()


def answer(body: bytes, kind: str = "text/plain", status: str = "200 OK", **headers: str) -> bytes:
    """A whole answer; `x_name` becomes the header X-Name."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode() + body


def redirect(location: str, status: str = "302 Found") -> bytes:
    """An answer that points elsewhere."""
    return answer(b"", status=status, Location=location)


@asynccontextmanager
async def web_server(tls: ssl.SSLContext | None = None) -> AsyncIterator[WebServer]:
    """A server on a free port of this machine, IPv4 only."""
    made = WebServer()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0, ssl=tls)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
        for task in tuple(made.busy):
            task.cancel()
        await asyncio.gather(*made.busy, return_exceptions=True)
