"""The audit log: one JSON line for each call, append-only, readable by its owner alone.

Several sessions write to it at once. A lock makes them take turns, so that a line is never torn
and the file is put aside exactly once when it is full.
"""

import contextlib
import fcntl
import json
import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent_cli.core.log.store import CallRecord
from agent_cli.lib.files import open_regular, private_directory

MAX_BYTES = 10_000_000
"""Bytes of one file."""
_SEPARATORS = re.compile("[\x7f-\x9f\u2028\u2029]")
"""What JSON allows as it is, and some readers take for the end of a line."""
OLD_FILES = 5
"""How many full files are kept."""


class AuditLog:
    """Appends records to a file that is opened once and changed for a new one when it is full."""

    def __init__(self, path: Path, *, largest: int = MAX_BYTES, old_files: int = OLD_FILES) -> None:
        self._path = path
        self._largest = largest
        self._old_files = old_files
        self._fd: int | None = None
        self._lock: int | None = None

    def record(self, record: CallRecord) -> None:
        """Write one record; raises OSError if it cannot be kept."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = f'{{"time":"{now}",{record.model_dump_json(exclude_none=True)[1:]}\n'
        line = _SEPARATORS.sub(lambda found: f"\\u{ord(found[0]):04x}", line)
        data = line.encode("utf-8", "replace")
        with self._turn():
            os.write(self._file_for(len(data)), data)

    def close(self) -> None:
        """Close the files."""
        for descriptor in (self._fd, self._lock):
            if descriptor is not None:
                os.close(descriptor)
        self._fd = self._lock = None

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """Hold the lock; a file system that has none is written without."""
        if self._lock is None:
            private_directory(self._path.parent)
            self._lock = _open(self._path.with_suffix(".lock"))
        with contextlib.suppress(OSError):
            fcntl.flock(self._lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                fcntl.flock(self._lock, fcntl.LOCK_UN)

    def _file_for(self, size: int) -> int:
        """The descriptor of the file to write to: not one that was put aside, not a full one."""
        if self._fd is None or not self._is_current(self._fd):
            self._open()
        assert self._fd is not None
        held = os.fstat(self._fd).st_size
        if held and held + size > self._largest:
            self._put_aside()
            self._open()
        return self._fd

    def _is_current(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), self._path.lstat())
        except FileNotFoundError:
            return False

    def _open(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
        self._fd = _open(self._path)
        size = os.fstat(self._fd).st_size
        # Whoever died in the middle of a line must not spoil the next one.
        if size and os.pread(self._fd, 1, size - 1) != b"\n":
            os.write(self._fd, b"\n")

    def _put_aside(self) -> None:
        for number in range(self._old_files, 0, -1):
            younger = self._path if number == 1 else _numbered_path(self._path, number - 1)
            with contextlib.suppress(FileNotFoundError):
                younger.replace(_numbered_path(self._path, number))


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    """Every record that can be read, oldest first; half lines and what is not ours are skipped."""
    numbers = sorted(
        (int(old.suffix[1:]) for old in path.parent.glob(f"{path.name}.*") if _is_number(old)),
        reverse=True,
    )
    for file in (*(_numbered_path(path, number) for number in numbers), path):
        yield from _records_of(file)


def _records_of(path: Path) -> Iterator[dict[str, Any]]:
    try:
        descriptor = open_regular(path)
    except FileNotFoundError:
        return
    with os.fdopen(descriptor, encoding="utf-8", errors="replace", newline="\n") as lines:
        for line in lines:
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(record, dict):
                yield record


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    return os.open(path, flags, 0o600)


def _numbered_path(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}")


def _is_number(path: Path) -> bool:
    return path.suffix[1:].isdecimal()
