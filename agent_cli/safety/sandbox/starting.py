"""Starts confined commands: most by executing something, those under Landlock by a fork server."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from agent_cli.safety.sandbox import landlock_exec
from agent_cli.safety.sandbox.landlock import HELPER

_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Launch:
    """Everything that a process is started with; its standard input is empty."""

    argv: Sequence[str]
    directory: str
    environment: Mapping[str, str]
    output: int
    """A descriptor for all that it prints."""
    kept: tuple[int, ...] = ()
    """Descriptors that it gets under the same numbers."""


class Process(Protocol):
    """A child of ours."""

    @property
    def pid(self) -> int:
        """Its id, and that of its group."""

    def wait(self) -> int:
        """How it ended: its exit code, or a signal's number below zero."""


def start(launch: Launch, *more: int) -> Process:
    """Execute something in a session of its own; `more` are further descriptors that it gets."""
    return subprocess.Popen(
        launch.argv,
        stdin=subprocess.DEVNULL,
        stdout=launch.output,
        stderr=launch.output,
        cwd=launch.directory,
        env=dict(launch.environment),
        pass_fds=(*launch.kept, *more),
        start_new_session=True,
    )


class ForkServer:
    """A small process of ours that confines itself anew for each command, without starting Python.

    What it starts is our child, not its own. It ends when we do.
    """

    def __init__(self) -> None:
        self._asking: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @staticmethod
    def works_here() -> bool:
        """Whether this machine's way to make a child is known."""
        return os.uname().machine in landlock_exec.CLONE

    def start(self, launch: Launch, orders: Sequence[str]) -> Process:
        """Start something confined by these orders; raises OSError."""
        try:
            return _Child(self._ask(launch, orders))
        except (BrokenPipeError, ConnectionError):
            self.close()  # somebody ended it: once more with another one
            return _Child(self._ask(launch, orders))

    def close(self) -> None:
        """End it; what it started goes on."""
        asking, self._asking = self._asking, None
        process, self._process = self._process, None
        if asking is not None:
            asking.close()
        if process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_TIMEOUT_S)

    def _ask(self, launch: Launch, orders: Sequence[str]) -> int:
        asking = self._connect()
        order = _encode(launch, orders)
        header = len(order).to_bytes(landlock_exec.HEADER_BYTES, sys.byteorder)
        nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        try:
            given = (nothing, launch.output, launch.output, *launch.kept)
            socket.send_fds(asking, [header], given)
            asking.sendall(order)
        finally:
            os.close(nothing)
        answer = asking.recv(8, socket.MSG_WAITALL)
        if len(answer) < 8:
            raise ConnectionError
        pid = int.from_bytes(answer, sys.byteorder, signed=True)
        if pid < 0:
            raise OSError(-pid, os.strerror(-pid))
        return pid

    def _connect(self) -> socket.socket:
        if self._asking is not None:
            return self._asking
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", HELPER, "--serve", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        ours.settimeout(_TIMEOUT_S)
        self._asking = ours
        return ours


class _Child:
    def __init__(self, pid: int) -> None:
        self.pid = pid

    def wait(self) -> int:
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status)


def _encode(launch: Launch, orders: Sequence[str]) -> bytes:
    parts = (
        [launch.directory, *map(str, launch.kept)],
        orders,
        launch.argv,
        [f"{name}={value}" for name, value in launch.environment.items()],
    )
    counts = ",".join(str(len(part)) for part in parts)
    return os.fsencode("\0".join((counts, *(word for part in parts for word in part))))
