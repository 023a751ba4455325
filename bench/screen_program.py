"""A program on a terminal of its own, watched for when a key shows."""

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

LONGEST = 25.0
ON_SCREEN = b"\x1b[?2004h"
"""Written when keys are read: before, the terminal itself would echo them."""
_FIRST_SIGN = 0x100
_TICKS = os.sysconf("SC_CLK_TCK")


class ScreenProgram:
    """Runs from the moment it is made."""

    def __init__(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str]) -> None:
        self.written = bytearray()
        self._signs = iter(range(_FIRST_SIGN, _FIRST_SIGN + 0x150))
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self._started = time.perf_counter()
        self._process = subprocess.Popen(
            ["setsid", "-c", *argv],
            cwd=cwd,
            env={"TERM": "xterm-256color", "COLORTERM": "truecolor", **env},
            stdin=slave,
            stdout=slave,
            stderr=slave,
        )
        os.close(slave)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGTERM)
        deadline = time.monotonic() + 5
        with contextlib.suppress(RuntimeError):
            while self._process.poll() is None and time.monotonic() < deadline:
                self.watch(0.05)
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    def send(self, text: str) -> None:
        os.write(self._master, text.encode())

    def watch(self, seconds: float) -> bool:
        """Take in what is written next, waiting at most so long; whether there was any."""
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        try:
            self.written += os.read(self._master, 1 << 20)
        except OSError as error:
            raise RuntimeError(f"the program ended: {bytes(self.written[-2000:])!r}") from error
        return True

    def pass_time(self, seconds: float) -> None:
        """Take in what is written for a while."""
        deadline = time.perf_counter() + seconds
        while (left := deadline - time.perf_counter()) > 0:
            self.watch(left)

    def wait_for(self, text: bytes, start: int = 0) -> None:
        """Wait until this has been written, at or after a position."""
        deadline = time.monotonic() + LONGEST
        while self.written.find(text, start) < 0:
            start = max(start, len(self.written) - len(text))
            if time.monotonic() > deadline:
                raise RuntimeError(f"no {text!r} in {bytes(self.written[-2000:])!r}")
            self.watch(1)

    def elapsed(self) -> float:
        """Seconds since it was started."""
        return time.perf_counter() - self._started

    def echo(self) -> float:
        """Press a key that was not pressed before; seconds until its letter is written."""
        sign = chr(next(self._signs))
        position = len(self.written)
        pressed = time.perf_counter()
        self.send(sign)
        self.wait_for(sign.encode(), position)
        return time.perf_counter() - pressed

    def echoes(self, count: int, every: float = 0.03) -> list[float]:
        """Some of them, with a pause after each."""
        taken = []
        for _ in range(count):
            taken.append(self.echo())
            self.pass_time(every)
        return taken

    def cpu_seconds(self) -> float:
        """The processor time it has used so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def memory(self) -> int:
        """Bytes in memory."""
        pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
