"""Keys pasted during setup: in the system keyring, or in a private file.

The file names every key that is kept, so that the keyring is loaded only if it holds one.
"""

import contextlib
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from agent_cli.lib.files import read_json_object, write_private_json
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
        missing = entries.keys() - kept.keys()
        if missing and (ring := system_keyring()):
            for name in missing:
                with contextlib.suppress(Exception):  # its backends raise what they like
                    if value := ring.get_password(SERVICE, name):
                        kept[name] = value
        return kept

    def keep(self, name: str, key: str) -> str:
        """Keep a key; says where. Raises OSError."""
        in_ring = self._to_ring(name, key)
        write_private_json(self._path, {**self._entries(), name: None if in_ring else key})
        return tr("the system keyring") if in_ring else str(self._path)

    @staticmethod
    def _to_ring(name: str, key: str) -> bool:
        try:
            if (ring := system_keyring()) is None:
                return False
            ring.set_password(SERVICE, name, key)
        except Exception as error:  # its backends raise what they like; the file is left
            log.warning("the keyring rejected a key: %s", type(error).__name__)
            return False
        return True

    def _entries(self) -> dict[str, str | None]:
        held = read_json_object(self._path, MAX_BYTES)
        return {name: key for name, key in held.items() if key is None or isinstance(key, str)}


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
