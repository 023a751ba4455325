"""Has somebody who ends what we started, however we end."""

import secrets
import subprocess
import sys

from agent_cli.lib import sweep


def mark_of(owner: str) -> str:
    """What the marks of all that was ever started for an owner begin with."""
    return f"{owner}."


class Watchdog:
    """A small process that notices our end and then ends whatever bears one of our marks."""

    def __init__(self, owner: str = "any") -> None:
        self.mark = f"{mark_of(owner)}{secrets.token_hex(8)}."
        """What all marks given out here begin with."""
        self._count = 0
        self._process: subprocess.Popen[bytes] | None = None

    def new_mark(self) -> str:
        """A mark for something that is about to be started."""
        self._ensure_running()
        self._count += 1
        return f"{self.mark}{self._count}."

    def close(self) -> None:
        """End what is left; it blocks until all are gone."""
        if self._count:
            sweep.end(self.mark)
        process, self._process = self._process, None
        if process is not None:
            assert process.stdin is not None
            process.stdin.close()
            process.wait()

    def _ensure_running(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", sweep.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={},
            start_new_session=True,
        )
        assert self._process.stdin is not None
        self._process.stdin.write(f"{self.mark}\n".encode())
        self._process.stdin.flush()
