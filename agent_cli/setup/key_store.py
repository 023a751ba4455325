"""Keys pasted during setup: in the system keyring, or in a private file.

The file names every key that is kept, so that the keyring is loaded only if it holds one.
"""

import contextlib
import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from agent_cli.lib.files import open_regular, private_directory, write_atomic
from agent_cli.lib.language import tr

log = logging.getLogger(__name__)

SERVICE = "agent-cli"
MAX_BYTES = 1_000_000


class Keyring(Protocol):
    """The part of the keyring library that is used."""

    def get_password(self, service_name: str, username: str) -> str | None: ...

    def set_password(self, service_name: str, username: str, password: str) -> None: ...


class KeyStore:
    """Keys by the environment variable they stand for."""

    def __init__(self, config: Path) -> None:
        self._path = config / "credentials.json"

    def load(self) -> dict[str, str]:
        """Every key that can be had; what cannot be read is left out."""
        entries = self._entries()
        kept = {name: value for name, value in entries.items() if value is not None}
        missing = [name for name in entries if name not in kept]
        ring = system_keyring() if missing else None
        for name in missing if ring else ():
            with contextlib.suppress(Exception):  # its backends raise what they like
                if ring is not None and (value := ring.get_password(SERVICE, name)):
                    kept[name] = value
        return kept

    def keep(self, name: str, key: str) -> str:
        """Keep a key; says where. Raises OSError."""
        in_ring = self._to_ring(name, key)
        entries = {**self._entries(), name: None if in_ring else key}
        private_directory(self._path.parent)
        write_atomic(self._path, json.dumps(entries, indent=1).encode(), mode=0o600)
        return tr("the system keyring") if in_ring else str(self._path)

    @staticmethod
    def _to_ring(name: str, key: str) -> bool:
        ring = system_keyring()
        if ring is None:
            return False
        try:
            ring.set_password(SERVICE, name, key)
        except Exception as error:  # its backends raise what they like; the file is left
            log.warning("the keyring rejected a key: %s", type(error).__name__)
            return False
        return True

    def _entries(self) -> dict[str, str | None]:
        try:
            with os.fdopen(open_regular(self._path), "rb") as file:
                held = json.loads(file.read(MAX_BYTES))
        except (OSError, ValueError):
            return {}
        if not isinstance(held, dict):
            return {}
        return {
            str(name): value
            for name, value in held.items()
            if value is None or isinstance(value, str)
        }


def with_kept_keys(credentials: Mapping[str, str], config: Path) -> dict[str, str]:
    """Credentials of the environment, and the keys of a set-up where it has none."""
    given = {name: value for name, value in credentials.items() if value.strip()}
    return {**KeyStore(config).load(), **given}


def system_keyring() -> Keyring | None:
    """The system's keyring, if the library is installed and has a place to keep things."""
    try:
        import keyring  # noqa: PLC0415 (an extra, and slow to load)
        from keyring.backends import fail, null  # noqa: PLC0415

        backend = keyring.get_keyring()
        useless = isinstance(backend, fail.Keyring | null.Keyring)
        priority = float(backend.priority)
    except Exception:  # not installed, or it cannot even be asked
        return None
    return None if useless or priority <= 0 else backend
