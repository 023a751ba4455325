"""Runs a hook's command: JSON in, JSON or an exit code out, and nothing of it is left behind."""

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Mapping
from typing import Any

from agent_cli.extensions.hook import Function, HookProblem, answer_of

MOST_BYTES = 1_000_000
"""Of what a command prints; one that prints more has failed."""


def command_function(command: str, cwd: str, environment: Mapping[str, str]) -> Function:
    """The function that a command is."""

    async def run(facts: Mapping[str, Any]) -> Mapping[str, Any]:
        process = await asyncio.create_subprocess_exec(
            "/bin/sh",
            "-c",
            command,
            cwd=cwd,
            env=dict(environment),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            given = json.dumps(facts, default=str).encode("utf-8", "replace")
            out, err, _ = await asyncio.gather(
                _bounded(process.stdout), _bounded(process.stderr), _feed(process.stdin, given)
            )
            code = await process.wait()
        finally:
            await _end(process)
        return answer_of(code, out, err)

    return run


async def _bounded(stream: asyncio.StreamReader | None) -> bytes:
    assert stream is not None
    data = bytearray()
    while piece := await stream.read(65_536):
        data += piece
        if len(data) > MOST_BYTES:
            raise HookProblem(f"it printed more than {MOST_BYTES:,} bytes")
    return bytes(data)


async def _feed(stream: asyncio.StreamWriter | None, data: bytes) -> None:
    """Write all of it; a command need not read it."""
    assert stream is not None
    with contextlib.suppress(OSError):
        stream.write(data)
        await stream.drain()
    stream.close()


async def _end(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
