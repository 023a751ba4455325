"""Ends servers with us, however we end."""

import contextlib
import subprocess
import sys
import uuid

from agent_cli.lib import sweep


class Watchdog:
    """A small process that notices our end and then ends whatever bears one of our marks."""

    def __init__(self) -> None:
        self._mark = uuid.uuid4().hex
        self._process: subprocess.Popen[bytes] | None = None

    def new_mark(self) -> str:
        """A mark for one server; it begins with the mark of all."""
        self._ensure_running()
        return f"{self._mark}-{uuid.uuid4().hex[:8]}"

    def close(self) -> None:
        """End what is left; it blocks until all are gone."""
        process, self._process = self._process, None
        if process is None:
            return
        sweep.end(self._mark)
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
        with contextlib.suppress(OSError):
            self._process.stdin.write(f"{self._mark}\n".encode())
            self._process.stdin.flush()
