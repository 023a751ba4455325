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
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self, TypeVar

from aiohttp import web

from tests.kit.failures import problem_of
from tests.kit.openai_wire import OpenAIStream, whole_message
from tests.kit.script import (
    Answer,
    Call,
    Cut,
    Deltas,
    Failure,
    Hangup,
    Line,
    Message,
    Pause,
    Raw,
    Repeat,
    Reply,
    Reset,
    Stall,
    Usage,
)
from tests.kit.wires import OPENAI, Stream, Wire, streams, wire_of

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
    "running_server",
]

Json = dict[str, Any]
T = TypeVar("T")

REPEATS_PER_WRITE = 500


@dataclass(frozen=True)
class RecordedRequest:
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    """With names in small letters."""
    body: Json
    raw: bytes
    wire: str
    stream: bool
    at: float
    """Arrival on the monotonic clock."""


Spoken = Reply | Message | Deltas | Cut | Stall
Step = Spoken | Failure | Raw | Reset
Scripted = Step | Callable[[RecordedRequest], Step]


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
        exchange = _Exchange(request, asked, wire, self._new_id(wire))
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

    def _lost(self, exchange: _Exchange) -> None:
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


@dataclass
class _Exchange:
    """One request being answered."""

    request: web.Request
    asked: RecordedRequest
    wire: Wire
    new_id: Callable[[], str | None]
    hung_up: bool = field(default=False)
    """The server itself ended the connection."""

    async def play(self, step: Step) -> web.StreamResponse:
        match step:
            case Failure():
                return self._fail(step)
            case Reset():
                return self._hang_up(web.StreamResponse(), "reset")
            case Raw():
                return await self._raw(step)
            case Message() if self.wire is OPENAI:
                return await self._message(step)
            case _:
                answer = step.answer(self.new_id)
                return await (self._stream(answer) if self.asked.stream else self._whole(answer))

    def _fail(self, failure: Failure) -> web.Response:
        known = replace(failure, problem=problem_of(failure))
        body = self.wire.error(known) if failure.body is None else failure.body
        text = body if isinstance(body, str) else json.dumps(body)
        headers = {"content-type": "application/json", **failure.headers}
        return web.Response(status=failure.status, headers=headers, body=text.encode())

    async def _raw(self, raw: Raw) -> web.StreamResponse:
        response = await self._open(raw.content_type, raw.status)
        for chunk in raw.chunks:
            await response.write(chunk)
        return response

    async def _message(self, message: Message) -> web.StreamResponse:
        if not self.asked.stream:
            return web.json_response(whole_message(self.asked.body, message))
        writer = OpenAIStream(self.asked.body, self.asked.path)
        response = await self._open(writer.content_type)
        await response.write(writer.message(message))
        await response.write(writer.end())
        return response

    async def _whole(self, answer: Answer) -> web.StreamResponse:
        pieces = list(answer.pieces)
        for piece in pieces:
            if isinstance(piece, Failure):
                return self._fail(piece)
            if isinstance(piece, Pause):
                await _rest(piece)
            if isinstance(piece, Hangup):
                return await self._cut_whole(replace(answer, pieces=pieces), piece)
        body = self.wire.whole(self.asked.body, self.asked.path, replace(answer, pieces=pieces))
        return web.json_response(body)

    async def _cut_whole(self, answer: Answer, hangup: Hangup) -> web.StreamResponse:
        """Promise a whole body and send half of it."""
        body = json.dumps(self.wire.whole(self.asked.body, self.asked.path, answer)).encode()
        response = web.StreamResponse(headers={"content-type": "application/json"})
        response.content_length = len(body)
        await response.prepare(self.request)
        await response.write(body[: len(body) // 2])
        return self._hang_up(response, hangup.how)

    async def _stream(self, answer: Answer) -> web.StreamResponse:
        writer = self.wire.stream(self.asked.body, self.asked.path)
        response = await self._open(writer.content_type)
        await _write(response, writer.start(answer.usage))
        for piece in answer.pieces:
            match piece:
                case Pause():
                    await _rest(piece)
                case Hangup(how):
                    return self._hang_up(response, how)
                case Repeat():
                    await _write_repeated(response, writer, piece)
                case Failure():
                    await _write(response, writer.write(replace(piece, problem=problem_of(piece))))
                    return response
                case Line(data):
                    await _write(response, data.encode() + b"\n\n")
                case _:
                    await _write(response, writer.write(piece))
        await _write(response, writer.end())
        return response

    async def _open(self, content_type: str, status: int = 200) -> web.StreamResponse:
        headers = {"content-type": content_type, "cache-control": "no-cache"}
        response = web.StreamResponse(status=status, headers=headers)
        await response.prepare(self.request)
        return response

    def _hang_up(self, response: web.StreamResponse, how: str) -> web.StreamResponse:
        self.hung_up = True
        transport = self.request.transport
        if how == "end" or transport is None:
            return response
        if how == "reset":
            peer = transport.get_extra_info("socket")
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            transport.abort()
        else:
            transport.close()
        return response


async def _write(response: web.StreamResponse, data: bytes) -> None:
    if data:
        await response.write(data)


async def _write_repeated(response: web.StreamResponse, writer: Stream, repeat: Repeat) -> None:
    data = writer.write(repeat.piece)
    batch = data * REPEATS_PER_WRITE
    for _ in range(repeat.times // REPEATS_PER_WRITE):
        await response.write(batch)
    await _write(response, data * (repeat.times % REPEATS_PER_WRITE))


async def _rest(pause: Pause) -> None:
    if pause.until is not None:
        await pause.until.wait()
    elif pause.seconds is not None:
        await asyncio.sleep(pause.seconds)
    else:
        await asyncio.Event().wait()


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
    from tests.kit.chaos import step_from_json

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
