"""Places that must not come to be, occupied by empty directories for as long as a command runs.

A mount needs something to be mounted on, also where nothing is. Git does not see empty
directories; the sticky bit tells them from other people's. Each user of one holds a shared lock
on it: removed too early, the mount on it would vanish from every sandbox that relies on it.
"""

# ruff: noqa: PTH102, PTH106

import contextlib
import fcntl
import os
import stat
import threading
from collections.abc import Iterable

_MODE = 0o1755
_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MAX_TRIES = 100


def occupy(places: Iterable[str]) -> dict[str, int]:
    """Put a mask on each place; returns descriptors to release. Other things there are left."""
    held = {}
    for place in places:
        with contextlib.suppress(OSError):
            if (descriptor := _occupy(place)) is not None:
                held[place] = descriptor
    return held


def release(held: dict[str, int]) -> None:
    """Remove the masks that nobody else uses and nobody filled."""
    for place, descriptor in held.items():
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(place, descriptor):
                os.rmdir(place)
    if held:
        # The disk takes its time to give a directory up, and does that on the last close.
        threading.Thread(target=_close_all, args=(tuple(held.values()),), daemon=True).start()
    held.clear()


def _close_all(descriptors: Iterable[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def is_mask(place: str) -> bool:
    """Whether an empty directory of ours stands here."""
    try:
        found = os.lstat(place)
        return stat.S_ISDIR(found.st_mode) and _is_ours(found) and not os.listdir(place)  # noqa: PTH208
    except OSError:
        return False


def _occupy(place: str) -> int | None:
    for _ in range(_MAX_TRIES):
        with contextlib.suppress(FileExistsError):
            os.mkdir(place, _MODE)
        descriptor = os.open(place, _FLAGS)
        if not _is_ours(os.fstat(descriptor)):
            os.close(descriptor)
            return None
        # Never waits: a confined command can lock it too, and would hold us up.
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            if _is_at(place, descriptor):
                return descriptor
        os.close(descriptor)  # somebody is removing it, or did between our looking and locking
    return None


def _is_ours(found: os.stat_result) -> bool:
    return bool(found.st_mode & stat.S_ISVTX) and found.st_uid == os.geteuid()


def _is_at(place: str, descriptor: int) -> bool:
    try:
        there, here = os.lstat(place), os.fstat(descriptor)
    except OSError:
        return False
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)
