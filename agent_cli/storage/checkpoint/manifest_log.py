"""A manifest on disk, so that a call that a crash cut short can still be undone."""

import contextlib
import json
import os
from pathlib import Path

from agent_cli.core.undo.checkpoint import State
from agent_cli.storage.checkpoint.manifest import Manifest, Seen
from agent_cli.storage.checkpoint.records import pack_state, write_whole

_MIN_REWRITE = 2_000


class ManifestLog:
    """One line for each look at the disk: what was new then. Half a line is no line."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self._path = path
        self._manifest = manifest
        self._written: int | None = None
        """Entries in the file; None: it is not ours to add to."""

    def load(self) -> None:
        """Give the manifest what was known last."""
        found: dict[str, Seen] = {}
        unlisted: set[str] = set()
        with (
            contextlib.suppress(OSError, ValueError, TypeError, KeyError),
            self._path.open(encoding="ascii") as file,
        ):
            for line in file:
                data = json.loads(line)
                for name, stamp, state in data["seen"]:
                    found[name] = Seen(tuple(stamp) if stamp else None, State(*state))
                for name in data["gone"]:
                    found.pop(name, None)
                unlisted = set(data["unlisted"])
        self._manifest.fill(found, unlisted)

    def write(self) -> None:
        """Write down what is new; raises OSError."""
        manifest = self._manifest
        whole = self._written is None or self._written > 2 * len(manifest.seen) + _MIN_REWRITE
        if not whole and not manifest.fresh:
            return
        names = manifest.seen if whole else manifest.fresh
        seen = [
            (name, each.stamp, pack_state(each.state))
            for name in names
            if (each := manifest.seen.get(name)) is not None
        ]
        gone = [] if whole else [name for name in names if name not in manifest.seen]
        data = {"seen": seen, "gone": gone, "unlisted": sorted(manifest.unlisted)}
        line = json.dumps(data, separators=(",", ":")) + "\n"
        if whole:
            write_whole(self._path, line)
            self._written = 0
        else:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(line)
        self._written = (self._written or 0) + len(seen) + len(gone)
        manifest.fresh.clear()
