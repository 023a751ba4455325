"""Files written whole or not at all, and opened only if they are what they should be."""

import contextlib
import errno
import json
import os
import re
import secrets
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_cli.lib.language import mark

_KINDS = (
    (stat.S_ISDIR, mark("a directory")),
    (stat.S_ISLNK, mark("a symbolic link")),
    (stat.S_ISFIFO, mark("a named pipe")),
    (stat.S_ISSOCK, mark("a socket")),
    (stat.S_ISCHR, mark("a character device")),
    (stat.S_ISBLK, mark("a block device")),
)


_ON_THE_WAY = getattr(os, "O_PATH", os.O_RDONLY)


class NotRegularFile(OSError):
    """The path names something other than a regular file; `kind` says what, in English words."""

    def __init__(self, path: str, kind: str) -> None:
        super().__init__(errno.EINVAL, f"not a regular file but {kind}", path)
        self.kind = kind


@dataclass(frozen=True)
class FileIdentity:
    """Which file this is and in which state; equal means untouched."""

    dev: int
    ino: int
    size: int
    mtime_ns: int


def kind_of(mode: int) -> str | None:
    """What a file of this mode is, in English words, or None for a regular file."""
    return next((words for test, words in _KINDS if test(mode)), None)


def read_identity(file: int | str | os.PathLike[str]) -> FileIdentity:
    """The identity of an open file, or of a path without following a final link."""
    found = os.fstat(file) if isinstance(file, int) else os.lstat(file)
    return FileIdentity(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def open_regular(
    path: str | os.PathLike[str], flags: int = os.O_RDONLY, *, dir_fd: int | None = None
) -> int:
    """A descriptor of a regular file; the caller closes it.

    Neither follows a final link nor waits for a pipe, a device or a terminal.
    """
    # Looked at before it is opened, since opening alone can move a device or wake a process, and
    # once more afterwards, since it may have been exchanged in between.
    _refuse_special(os.lstat(path, dir_fd=dir_fd).st_mode, path)
    flags |= os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    descriptor = os.open(path, flags, dir_fd=dir_fd)
    try:
        _refuse_special(os.fstat(descriptor).st_mode, path)
    except NotRegularFile:
        os.close(descriptor)
        raise
    return descriptor


def open_direct(path: str | os.PathLike[str]) -> int:
    """A descriptor of a regular file reached without any link; the caller closes it.

    For a path that was resolved and judged: what was exchanged for a link since then is refused.
    """
    path = Path(path)
    with _directory(path.parent, follow=False) as directory:
        return open_regular(path.name, dir_fd=directory)


def open_directory(path: str | os.PathLike[str], *, create: bool = False) -> int:
    """A descriptor of a directory reached without any link; the caller closes it.

    With `create`, what is missing of it is made on the way.
    """
    absolute = Path(path).absolute()
    flags = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    names = absolute.parts[1:]
    # On the way, a directory need not be readable.
    current = os.open(absolute.anchor, flags | (_ON_THE_WAY if names else os.O_RDONLY))
    for name in names:
        try:
            if create:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=current)
            last = name is names[-1]
            below = _open_below(current, name, flags | (os.O_RDONLY if last else _ON_THE_WAY))
        finally:
            os.close(current)
        current = below
    return current


def _open_below(directory: int, name: str, flags: int) -> int:
    try:
        return os.open(name, flags, dir_fd=directory)
    except NotADirectoryError:
        if stat.S_ISLNK(os.lstat(name, dir_fd=directory).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from None
        raise


def write_atomic(
    path: str | os.PathLike[str],
    data: bytes,
    *,
    mode: int | None = None,
    follow_parents: bool = True,
) -> None:
    """Replace the content of a file; on any error the old content is still there.

    Keeps the mode and, where permitted, the owner of an existing file; a new one gets `mode` or
    what the umask leaves. A final link is refused: the caller decides where a link may lead.
    A caller who has resolved the path passes `follow_parents=False`, so that a directory which
    was exchanged for a link since then is refused as well.
    """
    path = Path(path)
    with _directory(path.parent, follow=follow_parents) as directory:
        before = _existing(path, directory)
        wanted = mode if mode is not None else (stat.S_IMODE(before.st_mode) if before else None)
        temporary = _write_temporary(directory, path.name, data, before, wanted)
        try:
            _refuse_change(directory, path, before)
            os.rename(temporary, path.name, src_dir_fd=directory, dst_dir_fd=directory)
        except BaseException:
            _remove(temporary, directory)
            raise
        os.fsync(directory)


def remove_leftovers(path: str | os.PathLike[str]) -> None:
    """Remove what a program that was killed while writing this file has left beside it.

    Only for files that nobody is writing: a write in progress looks the same.
    """
    path = Path(path)
    ours = re.compile(re.escape(f".{path.name[:80]}.") + r"[0-9a-f]{12}\.tmp")
    with contextlib.suppress(OSError):
        for beside in path.parent.iterdir():
            if ours.fullmatch(beside.name):
                beside.unlink()


def append_line(path: str | os.PathLike[str], line: str) -> None:
    """Add one line, in one write, to a file that only its owner can read."""
    data = line.rstrip("\n").replace("\n", "\\n").encode("utf-8", "replace") + b"\n"
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        _refuse_special(os.fstat(descriptor).st_mode, path)
        written = os.write(descriptor, data)
        if written < len(data):
            raise OSError(errno.ENOSPC, "line written only in part", os.fspath(path))
    finally:
        os.close(descriptor)


def private_directory(path: str | os.PathLike[str]) -> Path:
    """A directory that only its owner can enter, created if need be."""
    path = Path(path)
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        path.chmod(0o700)
    return path


def read_json_object(path: str | os.PathLike[str], max_bytes: int) -> dict[str, Any]:
    """What a JSON file holds; empty if it holds no object, or none that can be read."""
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            held = json.loads(file.read(max_bytes))
    except (OSError, ValueError):
        return {}
    return held if isinstance(held, dict) else {}


def write_private_json(path: Path, data: object) -> None:
    """Write a JSON file that only its owner can read; raises OSError."""
    private_directory(path.parent)
    write_atomic(path, json.dumps(data, indent=1).encode(), mode=0o600)


def _refuse_special(mode: int, path: str | os.PathLike[str]) -> None:
    if kind := kind_of(mode):
        raise NotRegularFile(os.fspath(path), kind)


def _existing(path: Path, directory: int) -> os.stat_result | None:
    try:
        found = os.lstat(path.name, dir_fd=directory)
    except FileNotFoundError:
        return None
    _refuse_special(found.st_mode, path)
    return found


@contextlib.contextmanager
def _directory(path: Path, *, follow: bool) -> Iterator[int]:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    descriptor = os.open(path, flags) if follow else open_directory(path)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _write_temporary(
    directory: int, name: str, data: bytes, before: os.stat_result | None, mode: int | None
) -> str:
    temporary = f".{name[:80]}.{secrets.token_hex(6)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, 0o600, dir_fd=directory)
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(data)
        if before is not None:
            # Without privileges a foreign owner cannot be kept; the content still can be replaced.
            with contextlib.suppress(PermissionError):
                os.fchown(descriptor, before.st_uid, before.st_gid)
        os.fchmod(descriptor, mode if mode is not None else 0o666 & ~_umask())
        os.fsync(descriptor)
    except BaseException:
        _remove(temporary, directory)
        raise
    finally:
        os.close(descriptor)
    return temporary


def _refuse_change(directory: int, path: Path, before: os.stat_result | None) -> None:
    """A link or a special file that came in the meantime is not replaced."""
    try:
        now = os.lstat(path.name, dir_fd=directory)
    except FileNotFoundError:
        return
    _refuse_special(now.st_mode, path)
    if before is None:
        raise FileExistsError(errno.EEXIST, "created by someone else meanwhile", str(path))


def _umask() -> int:
    # Reading it means setting it, for every thread; Linux also tells it without.
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("Umask:"):
                return int(line.split()[1], 8)
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _remove(name: str, directory: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=directory)
