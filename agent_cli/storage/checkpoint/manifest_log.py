"""A manifest on disk, so that a call that a crash cut short can still be taken back."""

import contextlib
import json
import os
from pathlib import Path

from agent_cli.storage.checkpoint.manifest import Manifest, ManifestEntry
from agent_cli.storage.checkpoint.records import pack_state, unpack_state, write_whole


class ManifestLog:
    """One line for each look at the disk: what was new then. Half a line is no line."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self._path = path
        self._manifest = manifest
        self._written: int | None = None

    def load(self) -> None:
        """Give the manifest what was known last."""
        seen = self._manifest.seen
        with contextlib.suppress(OSError):
            for line in self._path.read_text(encoding="ascii").splitlines():
                try:
                    for name, *known in json.loads(line):
                        if known:
                            ctime, ino, state = known
                            stamp = (ctime, ino) if ctime else None
                            seen[name] = ManifestEntry(stamp, unpack_state(state))
                        else:
                            seen.pop(name, None)
                except (ValueError, TypeError):
                    break
            self._manifest.is_empty = not seen

    def write(self) -> None:
        """Add what is new; raises OSError."""
        manifest = self._manifest
        if self._written is None or self._written > 2 * len(manifest.seen) + 1000:
            write_whole(self._path, self._line(manifest.seen) + "\n")
            self._written = len(manifest.seen)
        elif manifest.fresh:
            line = self._line(manifest.fresh).encode("ascii") + b"\n"
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
            try:
                os.write(descriptor, line)
            finally:
                os.close(descriptor)
            self._written += len(manifest.fresh)
        manifest.fresh.clear()

    def _line(self, names: "set[str] | dict[str, ManifestEntry]") -> str:
        entries: list[list[object]] = []
        for name in names:
            known = self._manifest.seen.get(name)
            if known is None:
                entries.append([name])
            else:
                ctime, ino = known.stamp or (0, 0)
                entries.append([name, ctime, ino, pack_state(known.state)])
        return json.dumps(entries, separators=(",", ":"))
