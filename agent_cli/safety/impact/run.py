"""Run a program that only looks, for as long as the clock allows."""

import os
import selectors
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from agent_cli.safety.impact.clock import Clock

MAX_BYTES = 16_000_000


@dataclass(frozen=True)
class RunOutput:
    """What a program printed."""

    data: bytes
    is_whole: bool
    """It ended by itself; otherwise it was stopped by the clock or for its size."""
    code: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names in it, each ended by NUL; one cut short is dropped."""
        return tuple(os.fsdecode(self.data).split("\0")[:-1])


def run(argv: Sequence[str], cwd: str, environment: Mapping[str, str], clock: Clock) -> RunOutput:
    """The output of a program in a process group that is gone afterwards; raises OSError."""
    if clock.is_over:
        return RunOutput(b"", is_whole=False)
    process = subprocess.Popen(
        argv,
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        data, is_whole = _read(process, clock)
        if is_whole:
            process.wait(clock.left + 0.05)
    except subprocess.TimeoutExpired:
        is_whole = False
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdout:
            process.stdout.close()
    return RunOutput(data, is_whole, process.returncode)


def _read(process: "subprocess.Popen[bytes]", clock: Clock) -> tuple[bytes, bool]:
    assert process.stdout
    data = bytearray()
    with selectors.DefaultSelector() as ready:
        ready.register(process.stdout, selectors.EVENT_READ)
        while not clock.is_over and len(data) < MAX_BYTES:
            if not ready.select(clock.left):
                continue
            piece = os.read(process.stdout.fileno(), 65_536)
            if not piece:
                return bytes(data), True
            data += piece
    return bytes(data), False
