"""Which folders the user trusts: by real path, and only while what it enables is unchanged.

One file for each folder, in the user's state, named by the hash of the folder's real path.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from agent_cli.core.deciding.trust_items import TooMuch, TrustItem, what_trust_enables
from agent_cli.lib.files import read_json_object, write_private_json

MAX_BYTES = 10_000_000


@dataclass(frozen=True)
class FolderTrust:
    """Whether a folder is trusted."""

    state: Literal["trusted", "untrusted", "changed"]
    changed: tuple[str, ...] = ()
    """The files that are new, gone or different since the user trusted the folder."""

    @property
    def trusted(self) -> bool:
        """Whether what the folder brings along may take effect."""
        return self.state == "trusted"


@dataclass(frozen=True)
class TrustedFolder:
    """One folder the user trusted."""

    path: str
    since: str


class TrustStore:
    """The user's trust, kept in a directory. A folder never inherits it from another."""

    def __init__(self, directory: Path, own_settings: Path | None = None) -> None:
        self._directory = directory
        self.own_settings = own_settings
        """The user's own configuration, whose hooks may run scripts of a folder."""

    def items(self, root: Path) -> tuple[TrustItem, ...]:
        """What trusting a folder enables, as it is now; raises TooMuch."""
        return what_trust_enables(root, self.own_settings)

    def standing(self, root: Path) -> FolderTrust:
        """Whether the folder is trusted as it is now; what cannot be read is not trusted."""
        known = read_json_object(self._file(root), MAX_BYTES)
        files = known.get("files")
        if known.get("path") != str(root.resolve()) or not isinstance(files, dict):
            return FolderTrust("untrusted")
        try:
            now = _hashes(self.items(root.resolve()))
        except TooMuch as reason:
            return FolderTrust("changed", (str(reason),))
        changed = [path for path in {**files, **now} if files.get(path) != now.get(path)]
        return FolderTrust("changed", tuple(sorted(changed))) if changed else FolderTrust("trusted")

    def trust(self, root: Path, shown: tuple[TrustItem, ...]) -> None:
        """Trust the folder with exactly what the user was shown; raises OSError."""
        entry = {
            "path": str(root.resolve()),
            "since": datetime.now(UTC).isoformat(timespec="seconds"),
            "files": _hashes(shown),
        }
        write_private_json(self._file(root), entry)

    def remove(self, root: Path) -> bool:
        """Trust the folder no longer; False if it was not trusted."""
        try:
            self._file(root).unlink()
        except FileNotFoundError:
            return False
        return True

    def __iter__(self) -> Iterator[TrustedFolder]:
        for path in sorted(self._directory.glob("*.json")):
            if known := read_json_object(path, MAX_BYTES):
                yield TrustedFolder(str(known.get("path")), str(known.get("since")))

    def _file(self, root: Path) -> Path:
        real = str(root.resolve()).encode("utf-8", "surrogateescape")
        return self._directory / f"{hashlib.sha256(real).hexdigest()[:32]}.json"


def _hashes(items: tuple[TrustItem, ...]) -> dict[str, str]:
    return {item.path: item.sha256 for item in items}
