"""What the user asked in a project, kept for its next sessions: private, without secrets."""

import contextlib
import fcntl
import hashlib
import json
import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Self

from agent_cli.lib.files import append_line, open_regular, private_directory, write_atomic

log = logging.getLogger(__name__)

_MAX_CHARS = 20_000
_MAX_READ_BYTES = 4_000_000


class PromptHistory:
    """The prompts of one project, shared by its sessions; read when first needed."""

    def __init__(self, path: Path, redact: Callable[[str], str], *, limit: int = 1000) -> None:
        self._path = path
        self._redact = redact
        self._limit = limit
        self._entries: tuple[str, ...] = ()
        self._lines_in_file = 0
        self._unwritten: list[str] = []
        """What could not be written; it is there for this session."""
        self._read_at: tuple[int, int] | None = None

    @classmethod
    def of_project(cls, state: Path, project: Path, redact: Callable[[str], str]) -> Self:
        """The history of a project's directory, below the state directory."""
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", project.name)[:40] or "root"
        digest = hashlib.sha256(os.fsencode(project)).hexdigest()[:16]
        return cls(state / "prompts" / f"{name}-{digest}.jsonl", redact)

    def entries(self) -> tuple[str, ...]:
        """Oldest first, each text once, where it was used last."""
        stamp = self._stamp()
        if stamp != self._read_at:
            lines = list(self._lines())
            self._lines_in_file = len(lines)
            self._entries = self._deduplicate([*lines, *self._unwritten])
            self._read_at = stamp
        return self._entries

    def add(self, text: str) -> None:
        """Keep a prompt; one that cannot be written is kept for this session."""
        kept = self._redact(_cut(text.strip()))
        if not kept or self.entries()[-1:] == (kept,):
            return
        try:
            self._write(kept)
        except OSError as error:
            log.warning("a prompt cannot be kept: %s", error)
            self._unwritten.append(kept)
            self._entries = self._deduplicate([*self._entries, kept])

    def _write(self, kept: str) -> None:
        private_directory(self._path.parent)
        with self._lock():
            before = self.entries()  # nothing is read unless another session has written
            append_line(self._path, json.dumps(kept, ensure_ascii=False))
            self._lines_in_file += 1
            self._entries = self._deduplicate([*before, kept])
            if self._lines_in_file > 2 * self._limit:
                shorter = self._deduplicate(self._lines())
                write_atomic(self._path, _encode(shorter), mode=0o600)
                self._lines_in_file = len(shorter)
            self._read_at = self._stamp()

    def _deduplicate(self, texts: Iterable[str]) -> tuple[str, ...]:
        last = dict.fromkeys(reversed(list(texts)))
        return tuple(reversed(list(last)[: self._limit]))

    def _lines(self) -> Iterator[str]:
        """The readable entries; a line that is broken or cut is passed over."""
        for line in self._tail().decode("utf-8", "replace").split("\n"):
            with contextlib.suppress(ValueError):
                text = json.loads(line)
                if isinstance(text, str) and text:
                    yield text

    def _tail(self) -> bytes:
        try:
            descriptor = open_regular(self._path)
        except OSError:
            return b""
        with os.fdopen(descriptor, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - _MAX_READ_BYTES))
            return file.read(_MAX_READ_BYTES)

    def _stamp(self) -> tuple[int, int] | None:
        try:
            found = self._path.lstat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        """One writer at a time, or a session could shorten the file under another's line."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(self._path.with_suffix(".lock"), flags, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_CHARS else text[:_MAX_CHARS] + " …"


def _encode(texts: tuple[str, ...]) -> bytes:
    lines = (json.dumps(text, ensure_ascii=False) + "\n" for text in texts)
    return "".join(lines).encode("utf-8", "replace")
