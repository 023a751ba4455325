"""A server as a child process that speaks JSON lines, within bounds.

It is a transport for the package `mcp`, which has one of its own; ours knows a longest line, takes
no nonsense for an error of the session, keeps what the server says on its standard error to itself,
and leaves no process behind.
"""

import asyncio
import contextlib
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import CONNECTION_CLOSED, ErrorData, JSONRPCError, jsonrpc_message_adapter

from agent_cli.extensions.mcp.tool_list_repair import repair
from agent_cli.lib import sweep
from agent_cli.lib.language import mark
from agent_cli.safety.sanitise import clean

MAX_LINE_CHARS = 10_000_000
"""Bytes of one message; what is longer is thrown away as it comes."""
MAX_PER_SECOND = 2_000
"""Messages; a server that sends more is read slowly."""
MAX_GARBAGE_LINES = 1_000
"""Lines without any sense until a server is given up."""
GRACE = 1.0
_CHUNK = 65_536
_EDGE = 4_096
_LAST_WORDS = 2_000
_ID_FIRST = re.compile(rb'^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,18})\s*,')
_ID_LAST = re.compile(rb'"id"\s*:\s*(\d{1,18})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')

DROPPED = {"agent": "dropped"}
"""Data of the error that we answer with in place of a message that was too long."""

Streams = tuple[Any, Any]
Remark = tuple[str, Mapping[str, object]]
"""A marked text and its values: shown in the user's language, told to the model in English."""


@dataclass(frozen=True)
class ServerLaunch:
    """What a server is started with."""

    argv: Sequence[str]
    directory: str
    environment: Mapping[str, str]
    mark: str


class ServerProcess:
    """`async with` starts the process and ends it with all it started."""

    def __init__(self, launch: ServerLaunch) -> None:
        self._launch = launch
        self._process: asyncio.subprocess.Process | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._words = b""
        self._garbage = 0
        self._first_garbage = ""
        self.closed = asyncio.Event()
        """Set when nothing more will come."""

    @property
    def pid(self) -> int | None:
        """The process, while there is one."""
        return self._process.pid if self._process is not None else None

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """What is worth telling about how it behaves."""
        said: list[Remark] = []
        if self._garbage:
            said.append(
                (
                    mark("it printed {count} lines that are not messages, such as {line!r}"),
                    {"count": self._garbage, "line": self._first_garbage},
                )
            )
        if words := clean(self._words.decode("utf-8", "replace")).strip():
            last = words.splitlines()[-1][:300]
            said.append((mark("its last output: {words}"), {"words": last}))
        return tuple(said)

    async def __aenter__(self) -> Streams:
        launch = self._launch
        self._process = await asyncio.create_subprocess_exec(
            *launch.argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=launch.directory,
            env={**launch.environment, sweep.VARIABLE: launch.mark},
            start_new_session=True,
        )
        self._incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write, self._outbox = anyio.create_memory_object_stream[SessionMessage](0)
        self._tasks = [
            asyncio.create_task(each())
            for each in (self._read, self._write, self._listen_to_errors)
        ]
        return read, write

    async def __aexit__(self, *_: object) -> None:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        for task in self._tasks[:2]:
            task.cancel()
        self.closed.set()
        self._incoming.close()
        self._outbox.close()
        process.stdin.close()
        await asyncio.shield(asyncio.ensure_future(self._end(process)))
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        """Closing its input is the polite way; then everything with its mark is ended."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                await process.wait()
        await asyncio.to_thread(sweep.end, self._launch.mark, (process.pid,))
        await process.wait()

    async def _read(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        line, tail, is_dropped = bytearray(), b"", False
        try:
            while chunk := await self._process.stdout.read(_CHUNK):
                *ends, rest = chunk.split(b"\n")
                for end in ends:
                    if is_dropped:
                        await self._refuse(bytes(line), (tail + end)[-_EDGE:])
                    else:
                        await self._take(bytes(line + end))
                    line, tail, is_dropped = bytearray(), b"", False
                if is_dropped:
                    tail = (tail + rest)[-_EDGE:]
                else:
                    line += rest
                    if len(line) > MAX_LINE_CHARS:
                        line, tail, is_dropped = line[:_EDGE], bytes(line[-_EDGE:]), True
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, ConnectionError):
            pass
        finally:
            self.closed.set()
            self._incoming.close()

    async def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            self._garbage += 1
            self._first_garbage = self._first_garbage or clean(line[:80].decode("utf-8", "replace"))
            if self._garbage >= MAX_GARBAGE_LINES:
                raise ConnectionError("it prints nothing but invalid messages") from None
            return
        await self._pace()
        await self._incoming.send(repair(SessionMessage(message)))

    async def _refuse(self, head: bytes, tail: bytes) -> None:
        """Answer in place of a message that was too long, so that nobody waits for it."""
        found = _ID_LAST.search(tail) or _ID_FIRST.search(head)
        if found is None:
            raise ConnectionError("it sent a message that is too long")
        what = (
            f"The server's response was more than {MAX_LINE_CHARS // 1_000_000} MB and was dropped."
        )
        error = ErrorData(code=CONNECTION_CLOSED, message=what, data=DROPPED)
        answer = JSONRPCError(jsonrpc="2.0", id=int(found[1]), error=error)
        await self._incoming.send(SessionMessage(answer))

    _second = 0.0
    _count = 0

    async def _pace(self) -> None:
        now = time.monotonic()
        if now - self._second >= 1:
            self._second, self._count = now, 0
        self._count += 1
        if self._count > MAX_PER_SECOND:
            await asyncio.sleep(1 - (now - self._second))

    async def _write(self) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            async for message in self._outbox:
                plain = message.message.model_dump(mode="json", by_alias=True, exclude_unset=True)
                self._process.stdin.write(json.dumps(plain).encode() + b"\n")
                await self._process.stdin.drain()

    async def _listen_to_errors(self) -> None:
        assert self._process is not None
        assert self._process.stderr is not None
        while chunk := await self._process.stderr.read(_CHUNK):
            self._words = (self._words + chunk)[-_LAST_WORDS:]
