"""Small pieces of bytes, many in one file: to make a file for each costs far more than to write it.

A pack is only ever added to, by the program that made it; half a piece at its end is none. So a
copy of a session can use it too, under a name of its own.
"""

# ruff: noqa: PTH108, PTH118

import contextlib
import os
import secrets
from collections.abc import Iterator
from typing import NamedTuple

PACK = "pack-"
_MAX_PACK_BYTES = 16_000_000
_MIN_USED = 0.9
"""The share of a pack that is needed; below it, what is needed is written anew."""
_MAX_HEAD_BYTES = 80


class _Piece(NamedTuple):
    pack: str
    at: int
    size: int


class Packs:
    """The packs of one directory."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._places: dict[str, _Piece] = {}
        self._sizes: dict[str, int] = {}
        self._descriptor = -1
        self._current = ""
        """The pack that is added to."""
        for entry in os.scandir(directory):
            if entry.name.startswith(PACK):
                self._sizes[entry.name] = entry.stat().st_size
                self._places.update(self._read_heads(entry.name))

    def __contains__(self, name: str) -> bool:
        return name in self._places

    @property
    def weight(self) -> int:
        """How many bytes they take."""
        return sum(self._sizes.values())

    def add(self, name: str, data: bytes) -> None:
        """Keep bytes under a name; raises OSError."""
        if self._descriptor < 0 or self._sizes[self._current] > _MAX_PACK_BYTES:
            self._begin()
        head = b"%s %d\n" % (name.encode(), len(data))
        at = self._sizes[self._current]
        try:
            written = os.write(self._descriptor, head + data)
            while written < len(head) + len(data):
                written += os.write(self._descriptor, (head + data)[written:])
        except OSError:
            self.close()  # what comes after half a piece would not be found
            raise
        self._sizes[self._current] += written
        self._places[name] = _Piece(self._current, at + len(head), len(data))

    def read(self, name: str) -> bytes:
        """The bytes; raises OSError where they are gone."""
        pack, at, size = self._places[name]
        descriptor = os.open(os.path.join(self._directory, pack), os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.pread(descriptor, size, at)
        finally:
            os.close(descriptor)

    def drop_unneeded(self, needed: set[str]) -> None:
        """Let go of all but these, as far as that frees space worth the work; raises OSError."""
        pieces: dict[str, list[str]] = {}
        for name, place in self._places.items():
            if name in needed:
                pieces.setdefault(place.pack, []).append(name)
        for pack, size in list(self._sizes.items()):
            used = sum(self._places[name].size for name in pieces.get(pack, ()))
            if used >= size * _MIN_USED:
                continue
            if pack == self._current:
                self.close()
            kept = {name: self.read(name) for name in pieces.get(pack, ())}
            self._places = {n: place for n, place in self._places.items() if place.pack != pack}
            for name, data in kept.items():
                self.add(name, data)
            del self._sizes[pack]
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(self._directory, pack))

    def close(self) -> None:
        """Add no more to the pack that is open."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        self._current = ""

    def _begin(self) -> None:
        self.close()
        pack = f"{PACK}{secrets.token_hex(8)}"
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        self._descriptor = os.open(os.path.join(self._directory, pack), flags, 0o600)
        self._current, self._sizes[pack] = pack, 0

    def _read_heads(self, pack: str) -> Iterator[tuple[str, _Piece]]:
        with open(os.path.join(self._directory, pack), "rb") as file:  # noqa: PTH123
            at = 0
            while head := file.readline(_MAX_HEAD_BYTES):
                name, _, length = head.rpartition(b" ")
                at += len(head)
                if not (length.endswith(b"\n") and length[:-1].isdigit()):
                    return
                if at + int(length) > self._sizes[pack]:
                    return
                yield name.decode("ascii", "replace"), _Piece(pack, at, int(length))
                at += int(length)
                file.seek(at)
