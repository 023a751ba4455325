"""Makes a state of what is on the disk."""

# ruff: noqa: PTH115, PTH120

import errno
import os
import stat
from collections.abc import Iterable

from agent_cli.core.undo.checkpoint import ABSENT, FIFO, PathState
from agent_cli.lib.language import tr
from agent_cli.lib.text import size as in_words
from agent_cli.storage.checkpoint.blobs import NO_ROOM, Blobs, NoRoom, allocated_bytes, hash_file

MAX_FILE_BYTES = 100_000_000
"""On the disk; larger files are not copied."""


def keep(
    blobs: Blobs,
    path: str,
    status: os.stat_result,
    known: str | None = None,
    *,
    max_bytes: int = MAX_FILE_BYTES,
) -> PathState:
    """The state of a path, its bytes kept; where they cannot be, the state says why.

    Where `known` is the name of its bytes, git has them, and they are not kept twice.
    """
    if not stat.S_ISREG(status.st_mode):
        return bare(path, status)
    if allocated_bytes(status) > max_bytes:
        return file_state(status, why=too_large())
    try:
        name, found = blobs.add_file(path, known)
    except FileNotFoundError:
        return ABSENT
    except NoRoom:
        return file_state(status, why=tr(NO_ROOM))
    except OSError as error:
        return file_state(status, why=_unreadable(error))
    return file_state(found, content=name)


def look(path: str) -> PathState:
    """The state of a path without keeping anything; the bytes are named as if they were kept."""
    try:
        status = os.lstat(path)
        if not stat.S_ISREG(status.st_mode) or not is_direct(path):
            return bare(path, status) if is_direct(path) else ABSENT
        if allocated_bytes(status) > MAX_FILE_BYTES:
            return file_state(status, why=too_large())
        name, status = hash_file(path)
        return file_state(status, content=name)
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except OSError as error:
        return PathState("other", why=_unreadable(error))


def bare(path: str, status: os.stat_result, why: str = "") -> PathState:
    """The state of a path without its bytes."""
    mode, when, ino = stat.S_IMODE(status.st_mode), status.st_mtime_ns, status.st_ino
    if stat.S_ISREG(status.st_mode):
        return PathState("file", mode, when, status.st_size, "", why, ino)
    if stat.S_ISDIR(status.st_mode):
        if is_repository(path):
            return repository(path, status)
        return PathState("directory", mode, when, ino=ino)
    if stat.S_ISLNK(status.st_mode):
        try:
            return PathState("link", mode, when, content=os.readlink(path), ino=ino)
        except OSError:
            return ABSENT
    if stat.S_ISFIFO(status.st_mode):
        return PathState("other", mode, when, content=FIFO, ino=ino)
    return PathState("other", mode, when, why=tr("it is a socket or a device"), ino=ino)


def repository(path: str, status: os.stat_result) -> PathState:
    """The state of a repository's own directory."""
    made = lstat(f"{path}/description")
    when = made.st_mtime_ns if made else 0
    return PathState("repository", stat.S_IMODE(status.st_mode), when, ino=status.st_ino)


def is_direct(path: str) -> bool:
    """Whether no directory on the way to a real path has been exchanged for a link."""
    parent = os.path.dirname(path)
    return os.path.realpath(parent) == parent


def lstat(path: str) -> os.stat_result | None:
    """What the disk says of a path; None: nothing is there."""
    try:
        return os.lstat(path)
    except OSError:
        return None


def has_names(status: os.stat_result | None) -> bool:
    """Whether a file has other names, through which it may be changed."""
    return status is not None and status.st_nlink > 1 and stat.S_ISREG(status.st_mode)


def is_repository(path: str) -> bool:
    """Whether a directory is a repository's own, whatever its name."""
    return path.endswith("/.git") or all(
        lstat(f"{path}/{name}") is not None for name in ("objects", "refs", "HEAD")
    )


def made_on_the_way(paths: Iterable[str]) -> dict[str, PathState]:
    """The directories that do not exist yet on the way to these paths, the outermost first."""
    missing: dict[str, PathState] = {}
    for path in paths:
        chain = []
        parent = path.rpartition("/")[0]
        while parent and parent not in missing and not os.path.lexists(parent):
            chain.append(parent)
            parent = parent.rpartition("/")[0]
        missing.update(dict.fromkeys(reversed(chain), ABSENT))
    return missing


def file_state(status: os.stat_result, content: str = "", why: str = "") -> PathState:
    """The state of a regular file."""
    mode, when, size, ino = status.st_mode, status.st_mtime_ns, status.st_size, status.st_ino
    return PathState("file", mode & 0o7777, when, size, content, why, ino)


def too_large() -> str:
    """Why a large file is not copied."""
    return tr("it is larger than {most}", most=in_words(MAX_FILE_BYTES))


def _unreadable(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG):
        return tr("it cannot be copied ({error})", error=error.strerror)
    return tr("it cannot be read ({error})", error=error.strerror)
