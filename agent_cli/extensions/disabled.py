"""Which plugins the user switched off, kept in the state directory."""

import json
from pathlib import Path

from agent_cli.lib.files import private_directory, write_atomic


class Disabled:
    """Names of plugins, in one file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def names(self) -> frozenset[str]:
        """All of them; a file that cannot be read switches nothing off."""
        try:
            known = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return frozenset()
        return frozenset(map(str, known)) if isinstance(known, list) else frozenset()

    def add(self, name: str) -> None:
        """Switch one off; raises OSError."""
        self._write(self.names() | {name})

    def remove(self, name: str) -> bool:
        """Switch one on again; False if it was not off."""
        names = self.names()
        if name not in names:
            return False
        self._write(names - {name})
        return True

    def _write(self, names: frozenset[str]) -> None:
        private_directory(self._path.parent)
        write_atomic(self._path, json.dumps(sorted(names)).encode(), mode=0o600)
