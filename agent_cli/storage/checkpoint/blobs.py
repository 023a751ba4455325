"""Bytes of files, kept under the name git would give them."""

# ruff: noqa: PTH118

import contextlib
import errno
import fcntl
import hashlib
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from agent_cli.lib.files import open_regular, private_directory
from agent_cli.lib.language import mark, tr

MAX_BYTES = 100_000_000
"""Bytes; larger files are not kept."""
_CHUNK = 1 << 20
_SMALL = 1 << 20
"""Bytes that are read at once: then they are what was hashed, whatever happens to the file."""
_FICLONE = 0x40049409
_LINKED = "="
"""Begins the name of a file that is kept as a second link to it, its bytes unread."""


NO_ROOM = mark("the quota for checkpoints is used up")


class NoRoom(OSError):
    """What is to be kept does not fit into the quota any more."""

    def __init__(self) -> None:
        super().__init__(errno.EDQUOT, tr(NO_ROOM))


def name_of(data: bytes) -> str:
    """The name git gives to these bytes."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def is_unread(name: str) -> bool:
    """Whether the name says nothing about the bytes, because nobody has read them."""
    return name.startswith(_LINKED)


class Blobs:
    """A directory of files that nobody but us changes. A half-written one has another name."""

    def __init__(self, directory: Path) -> None:
        self._directory = private_directory(directory)
        self.room = sys.maxsize
        """How many more bytes may be added."""
        self._sizes: dict[str, int] = {}
        for entry in os.scandir(self._directory):
            if entry.name.startswith("."):
                os.unlink(entry.path)  # noqa: PTH108 (left by a crash)
            else:
                self._sizes[entry.name] = entry.stat().st_size

    @property
    def weight(self) -> int:
        """How many bytes are kept."""
        return sum(self._sizes.values())

    @property
    def names(self) -> set[str]:
        """What is kept."""
        return set(self._sizes)

    def __contains__(self, name: str) -> bool:
        return name in self._sizes

    def add(self, data: bytes) -> str:
        """Keep these bytes; raises NoRoom or OSError."""
        name = name_of(data)
        if name not in self._sizes:
            self._claim(len(data))
            with self._new(name) as descriptor, open(descriptor, "wb", closefd=False) as file:
                file.write(data)
            self._sizes[name] = len(data)
        return name

    def add_file(self, descriptor: int, known: str | None = None) -> str:
        """Keep the bytes of an open file; raises NoRoom or OSError.

        Where `known` is their name, git has them already and they are not kept once more.
        """
        size = os.fstat(descriptor).st_size
        if size <= _SMALL:
            with open(descriptor, "rb", closefd=False) as file:
                data = file.read()
            name = name_of(data)
            return name if name == known else self.add(data)
        name = _hash_descriptor(descriptor, size)
        if name in self._sizes or name == known:
            return name
        self._claim(size)
        os.lseek(descriptor, 0, os.SEEK_SET)
        with self._new(name) as target:
            if not _clone(descriptor, target):
                _copy(descriptor, target)
            os.lseek(target, 0, os.SEEK_SET)
            if _hash_descriptor(target, os.fstat(target).st_size) != name:
                raise BlockingIOError(errno.EAGAIN, tr("the file changed while it was read"))
        self._sizes[name] = size
        return name

    def add_link(self, path: str, size: int) -> str | None:
        """Keep a file that is about to be deleted by a second link; None where that cannot be.

        Not safe for a file that lives on and may be written to in place: see `own`.
        """
        name = _LINKED + secrets.token_hex(10)
        self._claim(size)
        try:
            os.link(path, self._path(name), follow_symlinks=False)
        except OSError:
            self.room += size
            return None
        self._sizes[name] = size
        return name

    def own(self, name: str) -> str:
        """The name of bytes that nobody else can change: a link is copied if the file lives on."""
        if not is_unread(name) or os.lstat(self._path(name)).st_nlink == 1:
            return name
        descriptor = os.open(self._path(name), os.O_RDONLY | os.O_CLOEXEC)
        try:
            kept = self.add_file(descriptor)
        finally:
            os.close(descriptor)
        self.remove(name)
        return kept

    def read(self, name: str) -> bytes | None:
        """The bytes, or None if they are not kept."""
        try:
            return Path(self._path(name)).read_bytes()
        except OSError:
            return None

    def remove(self, name: str) -> None:
        """Keep it no longer."""
        size = self._sizes.pop(name, 0)
        self.room += size
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path(name))  # noqa: PTH108

    def _claim(self, size: int) -> None:
        if size > self.room:
            raise NoRoom
        self.room -= size

    def _path(self, name: str) -> str:
        return os.path.join(self._directory, name)

    @contextlib.contextmanager
    def _new(self, name: str) -> Iterator[int]:
        """A descriptor whose file gets its name once it is whole."""
        temporary = self._path(f".{secrets.token_hex(8)}")
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        descriptor = os.open(temporary, flags, 0o600)
        try:
            yield descriptor
            os.rename(temporary, self._path(name))  # noqa: PTH104
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)  # noqa: PTH108
            raise
        finally:
            os.close(descriptor)


def hash_file(path: str) -> tuple[str, os.stat_result]:
    """The name of a regular file's bytes, without keeping them; raises OSError."""
    descriptor = open_regular(path)
    try:
        found = os.fstat(descriptor)
        return _hash_descriptor(descriptor, found.st_size), found
    finally:
        os.close(descriptor)


def _hash_descriptor(descriptor: int, size: int) -> str:
    digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    while piece := os.read(descriptor, _CHUNK):
        digest.update(piece)
    return digest.hexdigest()


def _clone(source: int, target: int) -> bool:
    """Share the bytes on disks that can; each later change is then seen on its own side only."""
    if sys.platform != "linux" or not stat.S_ISREG(os.fstat(source).st_mode):
        return False
    try:
        fcntl.ioctl(target, _FICLONE, source)
    except OSError:
        return False
    return True


def _copy(source: int, target: int) -> None:
    while piece := os.read(source, _CHUNK):
        view = memoryview(piece)
        while view:
            view = view[os.write(target, view) :]
