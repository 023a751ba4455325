"""Finds and ends processes by a mark they inherit, whatever group, session or parent they have.

A command is started with its mark in the environment and on an open file. A child would have to
drop both to get lost; changing its group or session, forking twice or being disowned isn't enough.

Run as a program it is a watchdog: it reads a mark from its standard input, waits until the other
end is closed (which also happens when we are killed) and then ends what is marked. For that it
imports nothing of ours.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterator

VARIABLE = "AGENT_CALL"
DESCRIPTOR = 100
"""Where a marked process keeps its marked file open."""

_PAUSE_S = 0.02
_KILL_S = 10.0
"""Seconds for which SIGKILL is repeated: a process that forks without end must be outrun."""


def find(mark: str, groups: Collection[int] = ()) -> list[int]:
    """The living processes with this mark, or in one of these groups; never ourselves."""
    listed = _from_proc(mark, groups) if sys.platform == "linux" else _from_ps(mark, groups)
    return [pid for pid in listed if pid != os.getpid()]


def end(mark: str, groups: Collection[int] = (), *, grace: float = 0.5) -> list[int]:
    """SIGTERM, after `grace` seconds SIGKILL; returns what is alive nevertheless. Blocks."""
    if not find(mark, groups):
        return []
    told: set[int] = set()
    until = time.monotonic() + grace
    while alive := _find_forking(mark, groups):
        for pid in alive:
            if pid not in told:
                _send(pid, signal.SIGTERM)
                told.add(pid)
        if time.monotonic() >= until:
            break
        time.sleep(_PAUSE_S)
    until = time.monotonic() + _KILL_S
    while alive := _find_forking(mark, groups):
        for pid in alive:
            _kill_group_of(pid)
            _send(pid, signal.SIGKILL)
        if time.monotonic() >= until:
            break
        time.sleep(_PAUSE_S)
    return alive


def _find_forking(mark: str, groups: Collection[int]) -> list[int]:
    """Looks twice: one that forks and ends while it is looked for can be missed once."""
    return find(mark, groups) or find(mark, groups)


def has_members(group: int) -> bool:
    """Whether a process group has a living process in it."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    if sys.platform != "linux":
        return True
    # Dead processes count for the kernel until somebody reaps them, which may be never.
    return any(_group(place) == group for place in _places())


def _kill_group_of(pid: int) -> None:
    """Kill a marked process's whole group: in one stroke, so that none can fork away from it.

    Marked processes live in sessions of their own, so all of the group is theirs.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        group = os.getpgid(pid)
        if group != os.getpgrp():
            os.killpg(group, signal.SIGKILL)


def _send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _from_proc(mark: str, groups: Collection[int]) -> Iterator[int]:
    in_environment = f"{VARIABLE}={mark}".encode()
    for place in _places():
        if _has_mark(place, mark, in_environment) or (groups and _group(place) in groups):
            yield int(place.removeprefix("/proc/"))


def _places() -> Iterator[str]:
    names = [name for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 (speed)
    # Young processes first: they are the ones that may have forked before their turn comes.
    yield from (f"/proc/{name}" for name in sorted(names, key=int, reverse=True))


def _has_mark(place: str, mark: str, in_environment: bytes) -> bool:
    try:
        with open(f"{place}/environ", "rb") as file:  # noqa: PTH123
            if in_environment in file.read():
                return True
        return f":agent-{mark}" in os.readlink(f"{place}/fd/{DESCRIPTOR}")  # noqa: PTH115
    except OSError:
        return False


def _group(place: str) -> int | None:
    """The group of a process that isn't just waiting to be reaped."""
    try:
        with open(f"{place}/stat", "rb") as file:  # noqa: PTH123
            state, _parent, group = file.read().rpartition(b")")[2].split()[:3]
    except (OSError, ValueError):
        return None
    return None if state == b"Z" else int(group)


def _from_ps(mark: str, groups: Collection[int]) -> Iterator[int]:
    listed = subprocess.run(
        ["/bin/ps", "-axEww", "-o", "pid=,pgid=,stat=,command="],
        capture_output=True, check=False, text=True, errors="replace",
    ).stdout  # fmt: skip
    for line in listed.splitlines():
        fields = line.split(None, 3)
        if len(fields) == 4 and not fields[2].startswith("Z"):
            pid, group, _, command = fields
            if f"{VARIABLE}={mark}" in command or int(group) in groups:
                yield int(pid)


def _watch() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    mark = os.read(0, 200).decode().strip()
    while os.read(0, 1):
        pass
    if mark:
        end(mark)


if __name__ == "__main__":
    _watch()
