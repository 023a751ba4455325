"""The log of a session: one JSON line for each entry, append-only, readable by its owner alone.

    sessions/ID.jsonl      the entries
    sessions/ID.partial    the pieces of the reply that is arriving
    sessions/ID.files/     texts too long for a line, by their SHA-256
    sessions/ID.owner      who has the session open

A line is written whole, in one go. What a crash left of a line is passed over when the log is
read, and the next entry begins on a line of its own.
"""

import contextlib
import errno
import json
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from agent_cli.core.events import TextDelta, ThinkingDelta
from agent_cli.core.log.entries import Entry, read_entry
from agent_cli.lib.files import open_regular, private_directory
from agent_cli.lib.garbage import pause_collection
from agent_cli.storage.partial_reply import PartialReply
from agent_cli.storage.payloads import Payloads
from agent_cli.storage.redacted import without_secrets
from agent_cli.storage.session_lock import lock

_SPLIT = b'{"payloads":'
"""How a line begins some of whose texts are in files of their own."""


def is_session_id(name: str) -> bool:
    """Whether a session can be called this; other files beside the logs are not ours."""
    return re.fullmatch(r"[0-9A-Za-z_-]{1,64}", name) is not None


class LogFiles:
    """Where the parts of one session's log lie."""

    def __init__(self, directory: Path, session_id: str) -> None:
        self.directory, self.id = directory, session_id
        self.log = directory / f"{session_id}.jsonl"
        self.partial = directory / f"{session_id}.partial"
        self.payloads = directory / f"{session_id}.files"
        self.owner = directory / f"{session_id}.owner"


class SessionLog:
    """The store of one session. Its file is made when the first entry is kept."""

    def __init__(self, files: LogFiles, redact: Callable[[str], str]) -> None:
        self.files = files
        self._redact = redact
        self._payloads = Payloads(files.payloads)
        self._partial = PartialReply(files.partial)
        self._fd: int | None = None

    def open(self) -> None:
        """Open the file and lock it; raises SessionInUse, or OSError if it cannot be opened."""
        private_directory(self.files.directory)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(self.files.log, flags, 0o600)
        try:
            lock(descriptor, self.files.id, self.files.owner)
        except BaseException:
            os.close(descriptor)
            raise
        self._fd = descriptor

    def append(self, entry: Entry) -> None:
        """Write one entry; raises OSError if it cannot be kept, and leaves no half of it."""
        if self._fd is None:
            self.open()
        assert self._fd is not None
        line = self.line(entry)
        size = os.fstat(self._fd).st_size
        if size and os.pread(self._fd, 1, size - 1) != b"\n":
            line = b"\n" + line
        written = 0
        try:
            written = os.write(self._fd, line)
        finally:
            if 0 < written < len(line):
                with contextlib.suppress(OSError):
                    os.ftruncate(self._fd, size)
        if written < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.files.log))

    def stream(self, delta: TextDelta | ThinkingDelta, *, after: str) -> None:
        """Keep a piece of the reply that is arriving."""
        self._partial.add(delta, after)

    def stream_ended(self) -> None:
        """The reply is an entry now."""
        self._partial.empty()

    def entries(self) -> Sequence[Entry]:
        """Every entry that can be read, oldest first."""
        return read_log(self.files)

    def sync(self) -> None:
        """Have the kernel write what it holds of the log."""
        if self._fd is not None:
            os.fsync(self._fd)

    def close(self) -> None:
        """Let the session go."""
        if self._fd is None:
            return
        self._partial.close()
        self.files.owner.unlink(missing_ok=True)
        os.close(self._fd)
        self._fd = None

    def line(self, entry: Entry) -> bytes:
        """An entry as it is written: without secrets, long texts put aside."""
        data: dict[str, Any] = entry.model_dump(mode="json")
        without_secrets(data, self._redact)
        if taken := self._payloads.take_out(data):
            data = {"payloads": taken, **data}
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "replace") + b"\n"


def read_log(files: LogFiles) -> list[Entry]:
    """Every entry of a log that can be read, oldest first; raises OSError."""
    payloads = Payloads(files.payloads)
    lines = read_bytes(files.log).split(b"\n")
    with pause_collection():
        found = [_read(line, payloads) for line in lines]
    return [entry for entry in found if entry is not None]


def read_bytes(path: Path, start: int = 0, end: int = -1) -> bytes:
    """What a log holds between two offsets; raises OSError."""
    with os.fdopen(open_regular(path), "rb") as file:
        file.seek(start)
        return file.read(max(0, end - start) if end >= 0 else -1)


def _read(line: bytes, payloads: Payloads) -> Entry | None:
    if not line.startswith(_SPLIT):
        return read_entry(line) if line else None
    try:
        data = json.loads(line)
        payloads.put_back(data, data.pop("payloads"))
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        return None
    return read_entry(json.dumps(data))
