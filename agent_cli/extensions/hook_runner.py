"""Runs a hook's command: JSON in, JSON or an exit code out, and nothing of it is left behind."""

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Mapping
from typing import Any, cast

from agent_cli.extensions.hook_definition import Function, HookProblem, answer_of
from agent_cli.lib.threads import in_own_thread
from agent_cli.safety.reasons import because
from agent_cli.safety.scripts import digest, named_scripts

MAX_BYTES = 1_000_000
"""Of what a command prints; one that prints more has failed."""


def pinned_function(
    command: str, cwd: str, environment: Mapping[str, str], *, trusted: bool
) -> Function:
    """The function that a command is, as long as the scripts of the folder that it runs are those
    the user trusted. What is new among them, or different, is not run."""
    function = command_function(command, cwd, environment)
    known = _scripts(command, cwd) if trusted else {}

    async def run(facts: Mapping[str, Any]) -> Mapping[str, Any]:
        now = await in_own_thread(lambda: _scripts(command, cwd))
        changed = sorted(path for path in {**known, **now} if known.get(path) != now.get(path))
        if changed:
            code = "script_changed" if trusted else "script_untrusted"
            raise HookProblem(because(code, path=changed[0].removeprefix(f"{cwd}/")))
        answer: Mapping[str, Any] = await function(facts)  # type: ignore[misc]
        return answer

    return run


def _scripts(command: str, cwd: str) -> dict[str, str]:
    return {path: digest(path) for path in named_scripts(command, cwd)}


def command_function(command: str, cwd: str, environment: Mapping[str, str]) -> Function:
    """The function that a command is."""

    async def run(facts: Mapping[str, Any]) -> Mapping[str, Any]:
        given = json.dumps(facts, default=str).encode("utf-8", "replace")
        transport, exchange = await asyncio.get_running_loop().subprocess_exec(
            _Exchange, "/bin/sh", "-c", command, cwd=cwd, env=dict(environment),
            start_new_session=True,
        )  # fmt: skip
        try:
            into = cast("asyncio.WriteTransport", transport.get_pipe_transport(0))
            into.write(given)
            into.write_eof()
            await exchange.told
        finally:
            transport.close()
            exchange.kill()
            await exchange.gone
        code = transport.get_returncode()
        return answer_of(code or 0, bytes(exchange.printed[1]), bytes(exchange.printed[2]))

    return run


class _Exchange(asyncio.SubprocessProtocol):
    """What goes on between a command and us. It ends with its process: whatever that leaves
    running in its group is killed, so that nobody holds the pipes open."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.printed = {1: bytearray(), 2: bytearray()}
        self.told: asyncio.Future[None] = loop.create_future()
        """All is said, or it is too much."""
        self.gone: asyncio.Future[None] = loop.create_future()
        self._pid = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._pid = cast("asyncio.SubprocessTransport", transport).get_pid()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.printed[fd] += data
        if len(self.printed[fd]) > MAX_BYTES and not self.told.done():
            self.told.set_exception(HookProblem(because("printed_too_much", most=MAX_BYTES)))

    def process_exited(self) -> None:
        self.kill()

    def connection_lost(self, _error: Exception | None) -> None:
        for future in (self.told, self.gone):
            if not future.done():
                future.set_result(None)

    def kill(self) -> None:
        """End its whole group; it may be gone already."""
        if self._pid and not self.gone.done():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, signal.SIGKILL)
