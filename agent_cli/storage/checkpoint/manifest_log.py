"""A manifest on disk, so that a call that a crash cut short can still be undone."""

import contextlib
import marshal
import os
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent_cli.core.undo.checkpoint import PathState
from agent_cli.storage.checkpoint.manifest import Manifest, ManifestEntry
from agent_cli.storage.checkpoint.records import write_whole

_MIN_REWRITE = 2_000
_LENGTH = struct.Struct(">Q")
_FORMAT = f"manifest 2 {sys.implementation.cache_tag}\n".encode()
"""What is written by another Python is not read: a fresh look takes its place."""


class ManifestLog:
    """One part for each look at the disk: what was new then. Half a part is none."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self._path = path
        self._manifest = manifest
        self._written: int | None = None
        """Entries in the file; None: it is not ours to add to."""

    def load(self) -> None:
        """Give the manifest what was known last."""
        found: dict[str, ManifestEntry] = {}
        unlisted: list[str] = []
        with contextlib.suppress(OSError, ValueError, TypeError, EOFError):
            for *seen, gone, unlisted in _parts(self._path.read_bytes()):  # noqa: B007
                for name, stamp, state in zip(*seen, strict=True):
                    found[name] = ManifestEntry(stamp, PathState(*state))
                for name in gone:
                    found.pop(name, None)
        self._manifest.fill(found, set(unlisted))

    def write(self) -> None:
        """Write down what is new; raises OSError."""
        manifest = self._manifest
        whole = self._written is None or self._written > 2 * len(manifest.seen) + _MIN_REWRITE
        if not whole and not manifest.fresh:
            return
        gone = [] if whole else list(manifest.fresh - manifest.seen.keys())
        names = list(manifest.seen if whole else manifest.fresh & manifest.seen.keys())
        entries = list(map(manifest.seen.__getitem__, names))
        stamps, states = [each[0] for each in entries], [tuple(each[1]) for each in entries]
        # In version 2 it does not look for twins, which takes long.
        part = marshal.dumps((names, stamps, states, gone, sorted(manifest.unlisted)), 2)
        part = _LENGTH.pack(len(part)) + part
        if whole:
            write_whole(self._path, _FORMAT + part)
            self._written = 0
        else:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
            with os.fdopen(descriptor, "wb") as file:
                file.write(part)
        self._written = (self._written or 0) + len(names) + len(gone)
        manifest.fresh.clear()


def _parts(data: bytes) -> Iterator[Any]:
    at = len(_FORMAT)
    if data[:at] != _FORMAT:
        return
    while at + _LENGTH.size <= len(data):
        (length,) = _LENGTH.unpack_from(data, at)
        at += _LENGTH.size
        if at + length > len(data):
            return
        yield marshal.loads(data[at : at + length])
        at += length
