"""Runs git so that nothing a repository brings along runs with it."""

import asyncio
import contextlib
import os
import re
import shutil
import signal
from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path

from agent_cli.core.errors import FailureType, ToolFailure

MAX_OUTPUT_BYTES = 4_000_000
"""Bytes of output that are read before git is stopped."""
MAX_FILTERS = 100
_NAMEABLE = re.compile(r"[ -<>-~]*")  # git cuts `-c` at the first equals sign

# Given as options because git takes these over whatever a repository's configuration says.
_HARDENED = (
    "--no-pager",
    "--no-optional-locks",
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.pager=cat"),
    *("-c", "safe.bareRepository=explicit"),
)
# A partial clone would fetch a missing object through whatever program its remote names.
_OFFLINE = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "", "GIT_TERMINAL_PROMPT": "0"}


@dataclass(frozen=True)
class GitOutput:
    """What git said."""

    text: str
    """Undecodable bytes are kept in it as surrogates."""
    error: str
    code: int
    whole: bool = True
    """False: there was more than is read, and git was stopped."""


class GitProgram:
    """The git program, bound to a directory and an environment without secrets."""

    def __init__(self, directory: Path, environment: Mapping[str, str]) -> None:
        program = shutil.which("git", path=environment.get("PATH"))
        if program is None:
            raise ToolFailure("git is not installed, or not on the PATH. Work without it.")
        self._program = program
        self._directory = directory
        self._options: tuple[str, ...] = ()
        self._environment = {**environment, **_OFFLINE, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}

    def without_filters(self, names: Collection[str]) -> "GitProgram":
        """The same, with these content filters switched off; a repository can name any program."""
        if len(names) > MAX_FILTERS or not all(map(_NAMEABLE.fullmatch, names)):
            raise ToolFailure(
                "The repository configures unusual content filters, so git was not run in it."
            )
        off = ("clean=", "smudge=", "process=", "required=false")
        bound = copy(self)
        bound._options = (*self._options, *(f"filter.{n}.{key}" for n in names for key in off))
        return bound

    async def run(self, *arguments: str, seconds: float = 10.0) -> GitOutput:
        """Run one command; ends it, with all it started, when it takes longer than it may."""
        process = await asyncio.create_subprocess_exec(
            self._program, *_HARDENED, *_each_with("-c", self._options), *arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self._directory,
            env=self._environment,
            start_new_session=True,
        )  # fmt: skip
        try:
            async with asyncio.timeout(seconds):
                return await _read(process)
        except TimeoutError as error:
            said = f"git {arguments[0]} was stopped after {seconds:g} s."
            raise ToolFailure(said, type=FailureType.TIMEOUT) from error
        finally:
            _end(process)
            await process.wait()


def _each_with(flag: str, values: Iterable[str]) -> Iterator[str]:
    for value in values:
        yield from (flag, value)


async def _read(process: asyncio.subprocess.Process) -> GitOutput:
    assert process.stdout is not None
    assert process.stderr is not None
    errors = asyncio.create_task(_read_bounded(process.stderr, 10_000))
    try:
        output, whole = await _read_bounded(process.stdout, MAX_OUTPUT_BYTES)
        if not whole:
            _end(process)
        said, _ = await errors
        code = await process.wait()
    finally:
        errors.cancel()
    error = said.decode("utf-8", "backslashreplace").strip()
    return GitOutput(output.decode("utf-8", "surrogateescape"), error, code, whole)


async def _read_bounded(stream: asyncio.StreamReader, most: int) -> tuple[bytes, bool]:
    """The stream's beginning, and whether that is all of it."""
    parts: list[bytes] = []
    size = 0
    while part := await stream.read(65536):
        parts.append(part)
        size += len(part)
        if size > most:
            return b"".join(parts)[:most], False
    return b"".join(parts), True


def valid(text: str) -> str:
    """Text of git's fit to be shown: bytes that are no UTF-8 are spelled out."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _end(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):  # it has ended already
        os.killpg(process.pid, signal.SIGKILL)
