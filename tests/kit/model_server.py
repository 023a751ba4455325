"""A model server that follows a script, for driving the real client libraries over loopback.

    async with ModelServer() as server:
        server.add(Reply("Let me look.", calls=[Call("Read", {"path": "a.txt"})]))
        server.add(rate_limited("1"))
        server.say("Done.")

Each request takes the next step; the answer comes in the format of the path that was asked.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self, TypeVar

from aiohttp import web

from tests.kit.chaos import chaos, step_from_json
from tests.kit.exchange import Exchange, RecordedRequest, Scripted
from tests.kit.script import Call, Cut, Deltas, Failure, Message, Raw, Reply, Reset, Stall, Usage
from tests.kit.wires import Wire, streams, wire_of

__all__ = [
    "Call",
    "Cut",
    "Deltas",
    "Failure",
    "Message",
    "ModelServer",
    "Raw",
    "RecordedRequest",
    "Reply",
    "Reset",
    "Stall",
    "Usage",
    "chaos",
    "running_server",
]

Json = dict[str, Any]
T = TypeVar("T")


class ModelServer:
    """Answers each request with the next step of its script and records what it was asked."""

    def __init__(self, *steps: Scripted, port: int = 0, journal: Path | None = None) -> None:
        self.default: Scripted = Reply("The script is at its end.")
        self.requests: list[RecordedRequest] = []
        self.disconnects = 0
        self.url = ""
        self._steps = deque(steps)
        self._port = port
        self._journal = journal
        self._ids = itertools.count(1)
        self._closing = False
        self._waiting: set[tuple[Callable[[], bool], asyncio.Future[None]]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._runner: web.AppRunner | None = None

    def add(self, *steps: Scripted) -> None:
        self._steps.extend(steps)

    def say(self, text: str) -> None:
        self.add(Reply(text))

    @property
    def remaining(self) -> int:
        """Steps no request has taken yet."""
        return len(self._steps)

    async def start(self) -> Self:
        app = web.Application(client_max_size=256 * 1024 * 1024)
        app.router.add_get("/{path:.*}", _list_models)
        app.router.add_post("/{path:.*}", self._handle)
        self._loop = asyncio.get_running_loop()
        self._runner = web.AppRunner(
            app, handler_cancellation=True, access_log=None, shutdown_timeout=0.1
        )
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def close(self) -> None:
        self._closing = True
        if self._runner is not None:
            await self._runner.cleanup()

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def wait_for_requests(self, count: int, timeout: float = 10) -> None:
        await self._until(lambda: len(self.requests) >= count, timeout)

    async def saw_disconnect(self, timeout: float = 2, count: int = 1) -> bool:
        """Whether `count` clients left before the end of their answer; waits for it."""
        with contextlib.suppress(TimeoutError):
            await self._until(lambda: self.disconnects >= count, timeout)
        return self.disconnects >= count

    def from_thread(self, work: Coroutine[Any, Any, T]) -> T:
        """Run one of the server's coroutines from a thread other than its own."""
        assert self._loop is not None, "the server has not been started"
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    # ── waiting ──────────────────────────────────────────────────────────────────────────────────

    async def _until(self, reached: Callable[[], bool], timeout: float) -> None:
        if reached():
            return
        waiter = (reached, asyncio.get_running_loop().create_future())
        self._waiting.add(waiter)
        try:
            async with asyncio.timeout(timeout):
                await waiter[1]
        finally:
            self._waiting.discard(waiter)

    def _tell_waiting(self) -> None:
        for reached, future in list(self._waiting):
            if reached() and not future.done():
                future.set_result(None)

    # ── answering ────────────────────────────────────────────────────────────────────────────────

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        wire = wire_of(request.path)
        if wire is None:
            return web.json_response({"error": f"nothing is served at {request.path}"}, status=404)
        asked = self._record(request, raw, wire)
        step = self._steps.popleft() if self._steps else self.default
        if callable(step):
            step = step(asked)
        exchange = Exchange(request, asked, wire, self._new_id(wire))
        try:
            return await exchange.play(step)
        except (asyncio.CancelledError, ConnectionError):
            self._lost(exchange)
            raise

    def _record(self, request: web.Request, raw: bytes, wire: Wire) -> RecordedRequest:
        body = json.loads(raw or b"{}")
        asked = RecordedRequest(
            path=request.path,
            query=dict(request.query),
            headers={name.lower(): value for name, value in request.headers.items()},
            body=body,
            raw=raw,
            wire=wire.name,
            stream=streams(wire, request.path, body),
            at=time.monotonic(),
        )
        self.requests.append(asked)
        entry = asdict(asked)
        del entry["raw"]
        self._note({"type": "request", **entry})
        self._tell_waiting()
        return asked

    def _new_id(self, wire: Wire) -> Callable[[], str | None]:
        if wire.id_prefix is None:
            return lambda: None
        return lambda: f"{wire.id_prefix}{next(self._ids):04}"

    def _lost(self, exchange: Exchange) -> None:
        if exchange.hung_up or self._closing:
            return
        self.disconnects += 1
        self._note({"type": "disconnect", "path": exchange.asked.path})
        self._tell_waiting()

    def _note(self, entry: Json) -> None:
        if self._journal is None:
            return
        with self._journal.open("a", encoding="utf-8") as journal:
            journal.write(json.dumps(entry) + "\n")


async def _list_models(request: web.Request) -> web.Response:
    names = ("scripted-large", "scripted-small")
    if request.path.endswith("/api/tags"):
        return web.json_response({"models": [{"name": name, "model": name} for name in names]})
    if request.path.endswith("/models"):
        models = [{"id": name, "object": "model", "owned_by": "kit"} for name in names]
        return web.json_response({"object": "list", "data": models})
    return web.json_response({"error": f"nothing is served at {request.path}"}, status=404)


# ── in a thread ───────────────────────────────────────────────────────────────────────────────────


@contextlib.contextmanager
def running_server(*steps: Scripted, journal: Path | None = None) -> Iterator[ModelServer]:
    """A server in a thread of its own, for tests that start the program as a process."""
    server = ModelServer(*steps, journal=journal)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="model-server", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.start(), loop).result()
        yield server
        server.from_thread(server.close())
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


# ── as a process ──────────────────────────────────────────────────────────────────────────────────


def main(arguments: list[str] | None = None) -> None:
    """Serve a script file until a signal; the first line of stdout is the address."""
    parser = argparse.ArgumentParser(description="Serve a scripted model over HTTP.")
    parser.add_argument("--script", type=Path, help="JSON list of steps, see step_from_json")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--journal", type=Path, help="where each request is written as a line")
    options = parser.parse_args(arguments)
    server = ModelServer(port=options.port, journal=options.journal)
    if options.script:
        server.add(*_read_script(options.script))
    asyncio.run(_serve(server))


def _read_script(path: Path) -> Iterator[Scripted]:
    for entry in json.loads(path.read_text(encoding="utf-8")):
        yield from step_from_json(entry)


async def _serve(server: ModelServer) -> None:
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    async with server:
        print(server.url, flush=True)
        await stopped.wait()


if __name__ == "__main__":
    main()
