"""JSON-RPC messages, one a line, over the two pipes an editor holds."""

import asyncio
import json
import os
from typing import Any

from agent_cli.core.errors import UserError
from agent_cli.lib.language import tr

MAX_LINE_CHARS = 64 * 1024 * 1024
"""A prompt with pictures is one line."""
_PARSE_ERROR = (-32700, "Parse error")
_INVALID_REQUEST = (-32600, "Invalid request")


class JsonLines:
    """What is not a message is answered with an error, and the next line is read."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._watching: asyncio.Task[None] | None = None

    @classmethod
    async def over(cls, source: int, sink: int) -> "JsonLines":
        """Read from one file descriptor and write to the other; raises UserError."""
        loop = asyncio.get_running_loop()
        reader, gone = asyncio.StreamReader(MAX_LINE_CHARS), asyncio.StreamReader()
        protocol = asyncio.StreamReaderProtocol(gone)
        try:
            await loop.connect_read_pipe(
                lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(source, "rb", 0)
            )
            transport, _ = await loop.connect_write_pipe(lambda: protocol, os.fdopen(sink, "wb", 0))
        except (OSError, ValueError) as error:
            raise UserError(
                tr("agent acp talks to an editor through pipes, but stdin or stdout isn't one."),
                hint=tr("Let your editor start it: see docs/editors.md."),
            ) from error
        lines = cls(reader, asyncio.StreamWriter(transport, protocol, None, loop))
        lines._watching = asyncio.create_task(lines._end_with(gone))
        return lines

    async def receive(self) -> dict[str, Any] | None:
        """The next message; None: there are no more."""
        while True:
            try:
                line = await self._reader.readline()
            except ValueError:  # longer than we take; its rest is not a message either
                await self._complain(_PARSE_ERROR)
                continue
            if not line:
                return None
            if not line.strip():
                continue
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                await self._complain(_PARSE_ERROR)
                continue
            if _is_message(message):
                return dict(message)
            await self._complain(_INVALID_REQUEST)

    async def send(self, message: dict[str, Any]) -> None:
        """Write a message, before everything that is sent later."""
        text = json.dumps(message, ensure_ascii=False, separators=(",", ":"), default=str)
        self._writer.write(text.encode("utf-8", "replace") + b"\n")
        await self._writer.drain()

    async def close(self) -> None:
        """Nothing more is read or written."""
        if self._watching is not None:
            self._watching.cancel()
        self._writer.close()

    async def _complain(self, error: tuple[int, str]) -> None:
        code, text = error
        told = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": text}}
        await self.send(told)

    async def _end_with(self, gone: asyncio.StreamReader) -> None:
        """An editor that stopped listening is gone."""
        await gone.read()
        self._reader.feed_eof()


def _is_message(message: object) -> bool:
    """Whether it is a request, a notification or a response of the form JSON-RPC has."""
    if not isinstance(message, dict):
        return False
    if not isinstance(message.get("id"), str | int | None):
        return False
    method = message.get("method")
    return isinstance(method, str) or (method is None and "id" in message)
