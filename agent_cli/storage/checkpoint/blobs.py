"""Bytes of files, kept under a name that tells what they are."""

# ruff: noqa: PTH108

import contextlib
import errno
import hashlib
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from agent_cli.lib.files import private_directory
from agent_cli.lib.language import mark, tr
from agent_cli.storage.checkpoint.packs import PACK, Packs

SMALL_BYTES = 8_000_000
"""Files up to here are read at once and named as git names them; of others each piece is named."""
_MAX_PACKED_BYTES = 100_000
_PIECE = 1 << 16
_ZEROS = bytes(_PIECE)
_READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_MAKING = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

NO_ROOM = mark("the space set aside for undo is used up")


class NoRoom(OSError):
    """What is to be kept does not fit into the quota any more."""

    def __init__(self) -> None:
        super().__init__(errno.EDQUOT, tr(NO_ROOM))


def name_of(data: bytes) -> str:
    """The name git gives to these bytes."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def hash_file(path: str) -> tuple[str, os.stat_result]:
    """The name of a regular file's bytes, without keeping them; raises OSError."""
    descriptor = _open(path)
    try:
        status = os.fstat(descriptor)
        if status.st_size <= SMALL_BYTES:
            return name_of(_read(descriptor, status.st_size)), status
        return _name_of_pieces(descriptor, status.st_size), status
    finally:
        os.close(descriptor)


class Blobs:
    """A directory of bytes that nobody but us changes. What is half written has no name."""

    def __init__(self, directory: Path) -> None:
        self._directory = str(private_directory(directory))
        self._packs = Packs(self._directory)
        self.room = sys.maxsize
        """How many more bytes may be added."""
        self._sizes: dict[str, int] = {}
        """Of those that are files of their own."""
        for entry in os.scandir(self._directory):
            if entry.name.startswith("."):
                os.unlink(entry.path)  # left by a crash
            elif not entry.name.startswith(PACK):
                self._sizes[entry.name] = allocated_bytes(entry.stat())

    @property
    def weight(self) -> int:
        """How many bytes are kept."""
        return self._packs.weight + sum(self._sizes.values())

    def __contains__(self, name: str) -> bool:
        return name in self._packs or name in self._sizes

    def add(self, data: bytes) -> str:
        """Keep these bytes; raises NoRoom or OSError."""
        name = name_of(data)
        if name in self:
            return name
        if len(data) > _MAX_PACKED_BYTES:
            with self._new(name, len(data)) as descriptor:
                _write(descriptor, data)
        elif len(data) > self.room:
            raise NoRoom
        else:
            self._packs.add(name, data)
            self.room -= len(data)
        return name

    def add_file(self, path: str, known: str | None = None) -> tuple[str, os.stat_result]:
        """Keep the bytes of a file; raises NoRoom or OSError.

        Where `known` is their name, git has them already and they are not kept once more.
        """
        source = _open(path)
        try:
            status = os.fstat(source)
            if status.st_size <= SMALL_BYTES:
                data = _read(source, status.st_size)
                if known is not None and name_of(data) == known:
                    return known, status
                return self.add(data), status
            name = _name_of_pieces(source, status.st_size)
            if name not in self._sizes:
                with self._new(name, allocated_bytes(status)) as target:
                    copy_pieces(source, target, status.st_size)
                    if _name_of_pieces(target, status.st_size) != name:
                        raise BlockingIOError(errno.EAGAIN, tr("it changed while it was read"))
            return name, status
        finally:
            os.close(source)

    def read(self, name: str) -> bytes | None:
        """The bytes, or None if they are not kept."""
        try:
            return self._packs.read(name) if name in self._packs else self._path(name).read_bytes()
        except OSError:
            return None

    def copy_to(self, name: str, path: str, mode: int) -> None:
        """Make a new file with these bytes; raises OSError."""
        target = os.open(path, _MAKING, 0o600)
        try:
            if name in self._packs:
                _write(target, self._packs.read(name))
            else:
                source = _open(str(self._path(name)))
                try:
                    copy_pieces(source, target, os.fstat(source).st_size)
                finally:
                    os.close(source)
            os.fchmod(target, mode)
        finally:
            os.close(target)

    def drop_unneeded(self, needed: set[str]) -> None:
        """Keep no more than these; raises OSError."""
        before = self.weight
        for name in self._sizes.keys() - needed:
            del self._sizes[name]
            self._path(name).unlink(missing_ok=True)
        self._packs.drop_unneeded(needed)
        self.room += before - self.weight

    def close(self) -> None:
        """Let go of the file that is written."""
        self._packs.close()

    def _path(self, name: str) -> Path:
        return Path(self._directory, name)

    @contextlib.contextmanager
    def _new(self, name: str, size: int) -> Iterator[int]:
        """A descriptor whose file gets its name once it is whole."""
        if size > self.room:
            raise NoRoom
        temporary = self._path(f".{secrets.token_hex(8)}")
        descriptor = os.open(temporary, _MAKING, 0o600)
        try:
            yield descriptor
            temporary.rename(self._path(name))
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        finally:
            os.close(descriptor)
        self.room -= size
        self._sizes[name] = size


def copy_pieces(source: int, target: int, size: int) -> None:
    """Copy a file into an empty one; stretches of nothing stay unwritten. Raises OSError."""
    for at, piece in _pieces(source, size):
        os.pwrite(target, piece, at)
    os.ftruncate(target, size)


def _name_of_pieces(descriptor: int, size: int) -> str:
    digest = hashlib.sha1(b"pieces %d\0" % size, usedforsecurity=False)
    for at, piece in _pieces(descriptor, size):
        digest.update(b"%d:" % at)
        digest.update(piece)
    return f"p{digest.hexdigest()}"


def _pieces(descriptor: int, size: int) -> Iterator[tuple[int, bytes]]:
    """All of a file but stretches of zeros, wherever the disk has holes."""
    at = 0
    while at < size:
        try:
            start = os.lseek(descriptor, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:
                return  # only a hole is left
            start = at
        at = max(at, start - start % _PIECE)
        piece = os.pread(descriptor, _PIECE, at)
        if not piece:
            return
        if piece != _ZEROS[: len(piece)]:
            yield at, piece
        at += _PIECE


def _open(path: str) -> int:
    descriptor = os.open(path, _READING)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, tr("it is not a regular file"), path)
    return descriptor


def _read(descriptor: int, size: int) -> bytes:
    data = os.read(descriptor, size + 1)
    if len(data) == size:
        return data
    parts = [data]
    while data:
        data = os.read(descriptor, 1 << 20)
        parts.append(data)
    return b"".join(parts)


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def allocated_bytes(status: os.stat_result) -> int:
    """What a file takes on the disk: nothing for its holes."""
    size: int = status.st_size
    return size if size <= SMALL_BYTES else min(size, status.st_blocks * 512)
