"""What the file tools share: paths and their failures, and what was read when."""

import asyncio
import errno
import hashlib
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeVar

from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.core.tool import Target
from agent_cli.core.tool_context import ToolContext
from agent_cli.lib.files import FileIdentity, NotRegularFile, read_identity
from agent_cli.safety.oddities import visible
from agent_cli.safety.paths import Fingerprint, PathProblem, ResolvedPath
from agent_cli.tools._aliases import other_names

MAX_EDITABLE_BYTES = 10_000_000
"""Bytes; larger files are read by range and changed by other means."""

T = TypeVar("T")
Access = Literal["read", "write"]

PATH_ALIASES = other_names(file_path="path file filename file_name target_file absolute_path uri")


@dataclass(frozen=True)
class SeenFile:
    """A file as the session last saw it."""

    identity: FileIdentity
    digest: str | None
    """Of the whole content, if it was small enough to be held."""
    at: datetime


class FileMemory:
    """What was read or written in this session, and the state it was in."""

    def __init__(self) -> None:
        self._seen: dict[str, SeenFile] = {}
        self.approved: dict[str, Fingerprint] = {}
        """What the user was shown, by call."""

    def remember(self, real: str, identity: FileIdentity, data: bytes | None) -> None:
        """Note that the model knows this file as it is now."""
        digest = None if data is None else digest_of(data)
        self._seen[real] = SeenFile(identity, digest, datetime.now().astimezone())

    def require_current(
        self, file: ResolvedPath, identity: FileIdentity, data: bytes | None
    ) -> None:
        """Refuse to change a file that was not read, or that changed since."""
        seen, name = self._seen.get(file.real), show_path(file)
        changed = datetime.fromtimestamp(identity.mtime_ns / 1e9).astimezone()
        if seen is None:
            raise ToolFailure(
                f"{name} exists but has not been read in this session (last changed "
                f"{clock(changed)}). Read it first, then retry."
            )
        if seen.digest is not None and data is not None:
            same = seen.digest == digest_of(data)
        else:
            same = seen.identity == identity
        if not same:
            raise ToolFailure(
                f"{name} changed since it was read (read {clock(seen.at)}, last changed "
                f"{clock(changed)}). Read it again, then retry against the new content."
            )


def digest_of(data: bytes) -> str:
    """What tells contents apart."""
    return hashlib.sha256(data).hexdigest()


def clock(moment: datetime) -> str:
    """A moment to the millisecond, since changes follow each other quickly."""
    return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03d}"


def resolve(context: ToolContext, path: str) -> ResolvedPath:
    """Where the path leads, or a failure that says why nowhere."""
    try:
        return context.resolve(path)
    except PathProblem as problem:
        said = f"{visible(str(problem), one_line=True)}."
        raise ToolFailure(said, type=FailureType.VALIDATION) from problem


def show_path(file: ResolvedPath) -> str:
    """The path as typed, on one line, and where it leads if that is elsewhere."""
    typed = visible(file.typed, one_line=True)
    return f"{typed} (→ {visible(file.real, one_line=True)})" if file.via_link else typed


def path_target(field: str, access: Access = "read") -> Callable[[Any], tuple[Target, ...]]:
    """What a call touches: the path in one of its parameters."""
    return lambda params: (Target("path", getattr(params, field), access),)


def title(path: str) -> str:
    """The path fit for a heading."""
    return visible(path, one_line=True)


Doing = Literal["read", "list", "write", "edit", "change"]

_REASONS = {
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.ENOTDIR: "a parent in the path is a file, not a directory",
    errno.ELOOP: "a symbolic link appeared in the path",
    errno.ENOSPC: "the disk is full; the old content is unchanged",
    errno.EROFS: "the file system is read-only",
    errno.ENAMETOOLONG: "the name is too long",
}


def cannot(doing: Doing, file: ResolvedPath) -> str:
    """ "Cannot write src/app.py"."""
    return f"Cannot {doing} {show_path(file)}"


def failure(file: ResolvedPath, error: OSError, doing: Doing) -> ToolFailure:
    """What an error of the system means for this file."""
    if isinstance(error, NotRegularFile):
        reason = f"it is {error.kind}, not a regular file"
    else:
        reason = _REASONS.get(error.errno or 0) or error.strerror or type(error).__name__
    return ToolFailure(f"{cannot(doing, file)}: {reason}.")


def read_small(
    descriptor: int, most: int = MAX_EDITABLE_BYTES
) -> tuple[FileIdentity, bytes | None]:
    """The content of an open file and the identity it has with it; None if it is not small.

    Files of the kernel's claim to be empty and may have no end.
    """
    with os.fdopen(descriptor, "rb", closefd=False) as file:
        identity = read_identity(descriptor)
        data = file.read(most + 1) if identity.size <= most else None
    return identity, None if data is None or len(data) > most else data


async def to_the_end(work: Callable[[], T], cancelled: threading.Event, done: str) -> T:
    """Work in a thread that must not be left to itself: a cancelled call waits for its end.

    The work may give up when `cancelled` is set; if it succeeds nevertheless, the cancellation
    carries the note `done`.
    """
    running = asyncio.ensure_future(asyncio.to_thread(work))
    interruption: asyncio.CancelledError | None = None
    while not running.done():
        try:
            await asyncio.wait([running])
        except asyncio.CancelledError as error:
            cancelled.set()
            interruption = error
    if interruption is None:
        return running.result()
    if running.exception() is None:
        interruption.add_note(done)
    raise interruption


def check_cancelled(cancelled: threading.Event) -> None:
    """End work in a thread that nobody waits for any more."""
    if cancelled.is_set():
        raise ToolFailure("Interrupted.", type=FailureType.CANCELLED)
