"""Makes a state of what is on the disk, keeping the bytes where that is wanted."""

# ruff: noqa: PTH115, PTH120

import os
import stat

from agent_cli.core.undo.checkpoint import ABSENT, PathState
from agent_cli.lib.files import open_regular
from agent_cli.lib.language import tr
from agent_cli.lib.text import size as in_words
from agent_cli.storage.checkpoint.blobs import MAX_BYTES, NO_ROOM, Blobs, NoRoom, hash_file
from agent_cli.storage.checkpoint.git import IndexEntry

_HALF = 0xFFFFFFFF  # git keeps the lower half of these numbers


def keep(
    blobs: Blobs, path: str, found: os.stat_result, entry: IndexEntry | None = None
) -> PathState:
    """The state of a path, its bytes kept; where they cannot be, the state says why.

    `entry` is what git's index says of it: what git has is not kept twice.
    """
    if not stat.S_ISREG(found.st_mode):
        return _without_bytes(path, found)
    if found.st_size > MAX_BYTES:
        return _file(found, why=_too_large())
    if entry is not None and _is_unchanged(found, entry):
        return _file(found, content=entry.oid)
    try:
        descriptor = open_regular(path)
    except FileNotFoundError:
        return ABSENT
    except OSError as error:
        return _file(found, why=_unreadable(error))
    try:
        name = blobs.add_file(descriptor, entry.oid if entry else None)
        return _file(os.fstat(descriptor), content=name)
    except NoRoom:
        return _file(found, why=tr(NO_ROOM))
    except BlockingIOError as error:
        return _file(found, why=error.strerror or tr("it is being written"))
    finally:
        os.close(descriptor)


def look(path: str) -> PathState:
    """The state of a path without keeping anything; the bytes are named as if they were kept."""
    if not is_direct(path):
        return ABSENT
    try:
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode):
            return _without_bytes(path, found)
        if found.st_size > MAX_BYTES:
            return _file(found, why=_too_large())
        name, found = hash_file(path)
        return _file(found, content=name)
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT
    except OSError as error:
        return PathState("other", why=_unreadable(error))


def is_direct(path: str) -> bool:
    """Whether no directory on the way to a real path has been exchanged for a link."""
    parent = os.path.dirname(path)
    return os.path.realpath(parent) == parent


def stat_only(path: str) -> PathState:
    """The state of a path whose bytes are of no interest."""
    try:
        found = os.lstat(path)
        regular = stat.S_ISREG(found.st_mode)
        return _file(found) if regular else _without_bytes(path, found)
    except OSError:
        return ABSENT


def _without_bytes(path: str, found: os.stat_result) -> PathState:
    mode = stat.S_IMODE(found.st_mode)
    if stat.S_ISLNK(found.st_mode):
        try:
            return PathState("link", mode, found.st_mtime_ns, content=os.readlink(path))
        except OSError:
            return ABSENT
    return PathState(
        "directory" if stat.S_ISDIR(found.st_mode) else "other", mode, found.st_mtime_ns
    )


def _too_large() -> str:
    return tr("it is larger than {most}", most=in_words(MAX_BYTES))


def _unreadable(error: OSError) -> str:
    return tr("it cannot be read ({error})", error=error.strerror)


def _file(found: os.stat_result, *, content: str = "", why: str = "") -> PathState:
    mode = stat.S_IMODE(found.st_mode)
    return PathState("file", mode, found.st_mtime_ns, found.st_size, content, why)


def _is_unchanged(found: os.stat_result, entry: IndexEntry) -> bool:
    return (
        found.st_mtime_ns == entry.mtime_ns
        and found.st_ctime_ns == entry.ctime_ns
        and found.st_ino & _HALF == entry.ino
        and found.st_size & _HALF == entry.size
    )
