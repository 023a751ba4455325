"""A process that holds nothing but loaded LiteLLM, and forks a worker for each start.

It has no keys, no requests and no network: what a worker needs comes through the worker's own
pipe. It ends when nobody has asked for a while, when the program changes, or when memory is short.
"""

import asyncio
import contextlib
import fcntl
import gc
import os
import signal
import socket
import sys
import threading
import time

from agent_cli.lib import language
from agent_cli.models import worker
from agent_cli.models.warm_client import TIMEOUT_S, installation, open_directory, peer

LOOK_EVERY_S = 30.0
MIN_FREE_MEMORY = 0.1
"""Share of the memory that must be free."""


def main() -> None:
    """`MODEL MINUTES NICENESS`: load, then serve until there is a reason to end."""
    model, minutes, niceness = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    os.environ["RAYON_NUM_THREADS"] = "1"  # so that tokenizers start no threads
    directory, name = open_directory(make=True), installation()
    lock = os.open(f"{name}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600, dir_fd=directory)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return  # another one has begun
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel collects the workers
    client = _load(model, niceness)
    if client is None or len(os.listdir("/proc/self/task")) != 1:  # noqa: PTH208
        return
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=directory)  # of one that was killed
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(f"/proc/self/fd/{directory}/{name}")
        listening.listen(16)
        try:
            _serve(listening, client, name, minutes * 60)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=directory)


def _load(model: str, niceness: int) -> object:
    """LiteLLM and what this model needs. Only the thread that loads them gives way to others: the
    workers could not win back their priority."""
    loaded: list[object] = []

    def load() -> None:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), niceness)
        client = worker.load()
        asyncio.run(client.prime(model))
        loaded.append(client)

    thread = threading.Thread(target=load)
    thread.start()
    thread.join()
    gc.collect()
    gc.freeze()
    return loaded[0] if loaded else None


def _serve(listening: socket.socket, client: object, name: str, idle_s: float) -> None:
    listening.settimeout(LOOK_EVERY_S)
    asked = time.monotonic()
    while time.monotonic() - asked < idle_s and installation() == name and _has_memory():
        try:
            connection, _ = listening.accept()
        except TimeoutError:
            continue
        with connection, contextlib.suppress(OSError):
            connection.settimeout(TIMEOUT_S)
            if peer(connection)[1] != os.getuid() or installation() != name:
                continue
            message, pipes, _, _ = socket.recv_fds(connection, 64, 3)
            if message == b"stop":
                connection.sendall(b"stopping")
                return
            if message == b"fork" and len(pipes) == 3:
                asked = time.monotonic()
                _fork(connection, listening, client, pipes)
            for each in pipes:
                os.close(each)


def _fork(
    connection: socket.socket, listening: socket.socket, client: object, pipes: list[int]
) -> None:
    pid = os.fork()
    if pid:
        pidfd = os.pidfd_open(pid)
        socket.send_fds(connection, [str(pid).encode()], [pidfd])
        os.close(pidfd)
        return
    try:
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        listening.close()
        connection.close()
        for number, pipe in enumerate(pipes):
            os.dup2(pipe, number)
        os.closerange(3, max(*pipes, 64) + 1)
        os.environ.clear()
        language.use(language.SOURCE)
        worker.serve(lambda: client)
    finally:
        os._exit(1)


def _has_memory() -> bool:
    with open("/proc/meminfo", encoding="ascii") as file:  # noqa: PTH123
        sizes = {line.split(":")[0]: int(line.split()[1]) for line in file}
    return sizes["MemAvailable"] > MIN_FREE_MEMORY * sizes["MemTotal"]


if __name__ == "__main__":
    main()
