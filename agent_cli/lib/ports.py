"""Which ports processes listen on (Linux: /proc; elsewhere nothing is known)."""

import os
from collections.abc import Iterable
from pathlib import Path

_LISTENING = "0A"


def listening(pids: Iterable[int]) -> tuple[int, ...]:
    """The TCP ports on which any of these processes waits for connections."""
    sockets = _listening_sockets()
    if not sockets:
        return ()
    found = {sockets[each] for pid in pids for each in _sockets_of(pid) if each in sockets}
    return tuple(sorted(found))


def _listening_sockets() -> dict[str, int]:
    """The port of each listening socket, by its number."""
    found = {}
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            lines = Path(table).read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if len(fields) > 9 and fields[3] == _LISTENING:
                found[fields[9]] = int(fields[1].rpartition(":")[2], 16)
    return found


def _sockets_of(pid: int) -> list[str]:
    found = []
    try:
        for entry in os.scandir(f"/proc/{pid}/fd"):
            target = os.readlink(entry.path)  # noqa: PTH115
            if target.startswith("socket:["):
                found.append(target[8:-1])
    except OSError:
        return found
    return found
