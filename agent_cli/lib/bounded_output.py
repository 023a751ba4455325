"""What a process printed: its beginning and end in memory, and all of it in a file when long."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

MAX_DISK_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class OutputPiece:
    """A part of the output as text, and where it ends."""

    text: str
    end: int
    left_out: int = 0
    """Bytes that are missing in the middle."""


class Output:
    """Takes bytes without end in bounded memory. `place` names the file when one is needed."""

    def __init__(
        self,
        place: Callable[[], Path],
        *,
        head: int,
        tail: int,
        most_on_disk: int = MAX_DISK_BYTES,
        clean: Callable[[Path], None] | None = None,
    ) -> None:
        self.size = 0
        self.lines = 0
        self.path: Path | None = None
        self.problem: str | None = None
        """Why the file doesn't hold everything."""
        self._place = place
        self._clean = clean
        """Takes secrets out of the file when it is complete, in a thread of its own."""
        self._most_head, self._most_tail, self._most_on_disk = head, tail, most_on_disk
        self._head = bytearray()
        self._tail = bytearray()
        self._file: BinaryIO | None = None
        self._on_disk = 0

    @property
    def is_cut(self) -> bool:
        """Whether memory no longer holds everything."""
        return self.size > len(self._head) + len(self._tail)

    def write(self, data: bytes) -> None:
        """Take what was printed next."""
        if self.path is None and self.size + len(data) > self._most_head + self._most_tail:
            self.keep()
        self._to_disk(data)
        self.size += len(data)
        self.lines += data.count(b"\n")
        room = self._most_head - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail += data[-self._most_tail :]
            if len(self._tail) > self._most_tail:
                del self._tail[: -self._most_tail]

    def keep(self) -> None:
        """Put everything into a file from now on; to be called before memory forgets any of it."""
        if self.path is not None or self.problem is not None:
            return
        try:
            path = self._place()
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
            self._file = os.fdopen(os.open(path, flags, 0o600), "wb", buffering=0)
        except OSError as error:
            self.problem = f"no file could be made: {error.strerror}"
            return
        self.path = path
        self._to_disk(bytes(self._head + self._tail))

    def whole(self) -> OutputPiece:
        """All of it, or its beginning and its end."""
        return self.since(0)

    def since(self, start: int, *, is_final: bool = True) -> OutputPiece:
        """What came after the first `start` bytes: all, or its beginning and its end.

        While more may come, the first bytes of an unfinished character are left for next time.
        """
        wanted = self.size - start
        if not self.is_cut:
            data = bytes(self._head + self._tail)[start:]
        elif wanted <= len(self._tail):
            data = bytes(self._tail)[len(self._tail) - wanted :]
        elif wanted <= self._most_head + self._most_tail and self._has_on_disk(start):
            data = self.read_file(start, wanted)
        else:
            first = self._first(start)
            last = without_broken_start(bytes(self._tail))
            unfinished = 0 if is_final else _broken_end(last)
            last = last[: len(last) - unfinished]
            left_out = wanted - unfinished - len(first) - len(last)
            return OutputPiece(self._join(first, last, left_out), self.size - unfinished, left_out)
        if not is_final:
            data = without_broken_end(data)
        return OutputPiece(data.decode(errors="replace"), start + len(data))

    def read_file(self, start: int, length: int) -> bytes:
        """Bytes from the file; fewer when it doesn't hold them."""
        if self.path is None:
            return bytes(self._head + self._tail)[start : start + length]
        try:
            with self.path.open("rb") as file:
                file.seek(start)
                return file.read(length)
        except OSError:
            return b""

    def close(self) -> None:
        """No more will come."""
        if self._file is not None:
            self._file.close()
            self._file = None
            if self._clean is not None and self.path is not None:
                threading.Thread(target=self._clean, args=(self.path,)).start()

    def _first(self, start: int) -> bytes:
        if start < len(self._head):
            return without_broken_end(bytes(self._head[start:]))
        if self._has_on_disk(start):
            return without_broken_end(self.read_file(start, self._most_head))
        return b""

    def _has_on_disk(self, start: int) -> bool:
        return self.path is not None and start < self._on_disk

    def _join(self, first: bytes, last: bytes, left_out: int) -> str:
        where = f"; the whole output is in {self.path}" if self.path else ""
        if self.path and self.problem:
            where = f"; the first {self._on_disk:,} bytes are in {self.path}"
        mark = f"[… {left_out:,} bytes left out{where} …]"
        return f"{first.decode(errors='replace')}\n{mark}\n{last.decode(errors='replace')}"

    def _to_disk(self, data: bytes) -> None:
        if self._file is None:
            return
        room = self._most_on_disk - self._on_disk
        try:
            if data[:room]:
                self._on_disk += self._file.write(data[:room])
        except OSError as error:
            self.problem = f"the file could not be written: {error.strerror}"
        if len(data) > room:
            self.problem = f"the file holds only the first {self._most_on_disk:,} bytes"
        if self.problem:
            self.close()


def without_broken_end(data: bytes) -> bytes:
    """The data without the first bytes of a character whose last are missing."""
    broken = _broken_end(data)
    return data[:-broken] if broken else data


def without_broken_start(data: bytes) -> bytes:
    """The data without the last bytes of a character whose first are missing."""
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    return data[start:]


def _broken_end(data: bytes) -> int:
    """How many bytes at the end begin a UTF-8 character without finishing it."""
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0x80:
            continue
        length = 4 if byte >= 0xF0 else 3 if byte >= 0xE0 else 2 if byte >= 0xC0 else 1
        return back if length > back else 0
    return 0
