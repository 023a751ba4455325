"""The audit log: one JSON line for each call, append-only, readable by its owner alone."""

import os
from datetime import UTC, datetime
from pathlib import Path

from agent_cli.core.store import CallRecord
from agent_cli.lib.files import private_directory


class AuditLog:
    """Appends records to a file that is opened once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd: int | None = None

    def record(self, record: CallRecord) -> None:
        """Write one record; raises OSError if it cannot be kept."""
        if self._fd is None:
            private_directory(self._path.parent)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            self._fd = os.open(self._path, flags, 0o600)
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = f'{{"time":"{now}",{record.model_dump_json(exclude_none=True)[1:]}\n'
        os.write(self._fd, line.encode("utf-8", "replace"))

    def close(self) -> None:
        """Close the file."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
