"""One app process behind one page, with Textual's protocol between them."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

DRIVER = "agent_cli.frontends.tui.served:ServedDriver"
_TIMEOUT_S = 5.0
"""Seconds to leave in, before a process is ended."""
_MAX_BYTES = 64_000_000

Send = Callable[[bytes], Awaitable[None]]


class Child:
    """Starts an app, passes bytes on, and makes sure that it ends."""

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        self._argv = argv
        self._environment = environment
        self._process: asyncio.subprocess.Process | None = None

    async def run(self, columns: int, rows: int, send: Send) -> None:
        """Send what the app draws until it is over."""
        self._process = process = await asyncio.create_subprocess_exec(
            *self._argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=sys.stderr.fileno(),
            env=served_environment(self._environment, columns, rows),
            start_new_session=True,
        )
        assert process.stdout is not None
        try:
            while (packet := await _packet(process.stdout)) is not None:
                kind, payload = packet
                if kind == b"D":
                    await send(payload)
        finally:
            await self.end()

    async def type(self, text: str) -> None:
        """What the user typed, as a terminal would send it."""
        await self._write(b"D", text.encode("utf-8", "replace"))

    async def tell(self, meta: Mapping[str, Any]) -> None:
        """Something that is no key: a new size, the focus, the wish to leave."""
        await self._write(b"M", json.dumps(meta).encode())

    async def end(self) -> None:
        """Ask it to leave, and end it and all it started if it does not."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        await self.tell({"type": "quit"})
        if process.stdin is not None:
            process.stdin.close()
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                await process.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()

    async def _write(self, kind: bytes, payload: bytes) -> None:
        process = self._process
        if process is None or process.stdin is None or process.stdin.is_closing():
            return
        with contextlib.suppress(ConnectionError):
            process.stdin.write(kind + len(payload).to_bytes(4, "big") + payload)
            await process.stdin.drain()


def served_environment(environment: Mapping[str, str], columns: int, rows: int) -> dict[str, str]:
    """What a served app sees: a terminal that is a page, and no code of the folder's."""
    return {
        **{name: held for name, held in environment.items() if not name.startswith("PYTHON")},
        "PYTHONPATH": _outside(environment.get("PYTHONPATH", ""), Path.cwd()),
        "TEXTUAL_DRIVER": DRIVER,
        "TEXTUAL_COLOR_SYSTEM": "truecolor",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "COLUMNS": str(columns),
        "ROWS": str(rows),
    }


def _outside(path: str, folder: Path) -> str:
    """The entries of PYTHONPATH that lie outside of a folder, wherever that is."""
    entries = (Path(entry) for entry in path.split(os.pathsep) if entry)
    kept = [each for each in entries if each.is_absolute()]
    return os.pathsep.join(str(each) for each in kept if folder not in (each, *each.parents))


async def _packet(stream: asyncio.StreamReader) -> tuple[bytes, bytes] | None:
    """The next packet; lines that begin an app, or stand between two of them, are passed over."""
    try:
        while True:
            kind = await stream.readexactly(1)
            if kind in (b"D", b"M", b"P"):
                size = int.from_bytes(await stream.readexactly(4), "big")
                if size > _MAX_BYTES:
                    return None
                return kind, await stream.readexactly(size)
            await stream.readline()
    except (asyncio.IncompleteReadError, ConnectionError, ValueError):
        return None
