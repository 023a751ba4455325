"""Gets a worker from the warm process: forked from loaded LiteLLM, it is ready in milliseconds.

The warm process is a convenience: whatever is wrong with it, a worker is started the usual way.
"""

import contextlib
import hashlib
import json
import os
import select
import signal
import socket
import stat
import struct
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from agent_cli import __version__

TIMEOUT_S = 0.05
"""How long a start waits for the warm process before it does without."""
_CREDENTIALS = struct.Struct("3i")
_OWN_MODULES = Path(__file__).parent


class WarmWorker:
    """A worker that is the warm process's child, with what is used of a `Popen` of our own."""

    def __init__(self, pid: int, pidfd: int, pipes: tuple[int, int, int]) -> None:
        self.pid = pid
        self._pidfd = pidfd
        self.stdin: BinaryIO = os.fdopen(pipes[0], "wb", buffering=0)
        self.stdout: BinaryIO = os.fdopen(pipes[1], "rb", buffering=0)
        self.stderr: BinaryIO = os.fdopen(pipes[2], "rb", buffering=0)

    def poll(self) -> int | None:
        """None while it runs."""
        return 0 if self._pidfd < 0 or select.select([self._pidfd], [], [], 0)[0] else None

    def kill(self) -> None:
        """End it."""
        if self._pidfd >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def wait(self) -> int:
        """Wait until it has ended."""
        if self._pidfd >= 0:
            select.select([self._pidfd], [], [])
            os.close(self._pidfd)
            self._pidfd = -1
        return 0


Worker = subprocess.Popen[bytes] | WarmWorker


def fork_worker(environment: Mapping[str, str]) -> WarmWorker | None:
    """A worker with this environment from the warm process; None if there is none that answers."""
    pipes: list[int] = []
    try:
        with connect() as connection:
            for _ in range(3):
                pipes += os.pipe()
            theirs = [pipes[0], pipes[3], pipes[5]]
            socket.send_fds(connection, [b"fork"], theirs)
            answer, received, _, _ = socket.recv_fds(connection, 64, 1)
            pid, pidfd = int(answer), received[0]
    except (OSError, ValueError, IndexError):
        for each in pipes:
            os.close(each)
        return None
    for each in theirs:
        os.close(each)
    worker = WarmWorker(pid, pidfd, (pipes[1], pipes[2], pipes[4]))
    configure = {"op": "configure", "environment": dict(environment)}
    with contextlib.suppress(OSError):  # whoever reads its answers notices that it is gone
        worker.stdin.write(json.dumps(configure).encode() + b"\n")
    return worker


def start_warm_process(model: str, minutes: int) -> None:
    """Start one beside us, at the lowest priority, unless there is one."""
    if sys.platform != "linux" or minutes <= 0 or os.environ.get("CI"):
        return
    kept = ("PATH", "HOME", "LANG", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME")
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "agent_cli.models.warm_process", model, str(minutes), "19"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={name: os.environ[name] for name in kept if name in os.environ},
        cwd="/",
        start_new_session=True,
    )
    process.returncode = 0  # it outlives us, so nobody waits for it


def stop_warm_process() -> bool:
    """End it; False if there is none."""
    try:
        with connect() as connection:
            connection.sendall(b"stop")
            return connection.recv(64) == b"stopping"
    except OSError:
        return False


def warm_process_id() -> int | None:
    """The process id of the warm process, if one runs."""
    try:
        with connect() as connection:
            return peer(connection)[0]
    except OSError:
        return None


def connect() -> socket.socket:
    """A connection to the warm process of this user and this installation; raises OSError."""
    if sys.platform != "linux":
        raise OSError
    directory = open_directory()
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        connection.settimeout(TIMEOUT_S)
        connection.connect(f"/proc/self/fd/{directory}/{installation()}")
        _require_own(peer(connection)[1] == os.getuid())
    except BaseException:
        connection.close()
        raise
    finally:
        os.close(directory)
    return connection


def peer(connection: socket.socket) -> tuple[int, int]:
    """Process and user id of the other side."""
    size = _CREDENTIALS.size
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    pid, uid, _ = _CREDENTIALS.unpack(raw)
    return pid, uid


def open_directory(*, make: bool = False) -> int:
    """A descriptor of the directory of the socket, which nobody else can enter; raises OSError."""
    above = os.environ.get("XDG_RUNTIME_DIR") or os.environ.get("XDG_CACHE_HOME")
    path = f"{above or Path.home() / '.cache'}/agent"
    if make:
        os.makedirs(path, 0o700, exist_ok=True)  # noqa: PTH103
    directory = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    status = os.fstat(directory)
    try:
        is_private = stat.S_IMODE(status.st_mode) == 0o700
        _require_own(is_private and status.st_uid == os.getuid())
    except PermissionError:
        os.close(directory)
        raise
    return directory


def _require_own(is_own: bool) -> None:  # noqa: FBT001
    if not is_own:
        raise PermissionError


def installation() -> str:
    """A name for exactly this program: another version, or one that was changed, has another."""
    parts = [__version__, sys.version, sys.prefix, str(_OWN_MODULES)]
    package = Path(sys.prefix, "lib", f"python{sys.version_info[0]}.{sys.version_info[1]}")
    for path in (package / "site-packages", *sorted(_OWN_MODULES.glob("*.py"))):
        with contextlib.suppress(OSError):
            status = path.stat()
            parts.append(f"{path.name} {status.st_mtime_ns} {status.st_size} {status.st_ino}")
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
