"""Plays one step of a script as the answer to one request."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from aiohttp import web

from tests.kit.failures import problem_of
from tests.kit.openai_wire import OpenAIStream, whole_message
from tests.kit.script import (
    Answer,
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
)
from tests.kit.wires import OPENAI, Stream, Wire

Json = dict[str, Any]

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


@dataclass
class Exchange:
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
            case Stall(headers=False):
                await _rest(Pause(until=step.until))
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
