"""How much disk all checkpoints together take, and which ones go first."""

import contextlib
import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agent_cli.lib.files import private_directory

LOCK = "lock"
ASIDE = ".agent-undo"
"""The name of directories of ours inside a workspace, where another disk leaves no choice."""
PLACES = "places"
"""The file that names them."""
_DAY = 86_400


@dataclass(frozen=True)
class CheckpointUsage:
    """What is kept of one session."""

    session_id: str
    path: Path
    bytes: int
    checkpoints: int
    last: float
    """When something was last kept."""
    in_use: bool


def sessions(directory: Path) -> list[CheckpointUsage]:
    """All sessions with checkpoints, the oldest first."""
    found = []
    with contextlib.suppress(FileNotFoundError):
        for entry in os.scandir(directory):
            if entry.is_dir(follow_symlinks=False):
                with contextlib.suppress(FileNotFoundError):
                    found.append(_measure(Path(entry.path)))
    return sorted(found, key=lambda each: each.last)


def prune_others(directory: Path, own: str | None, most: int, *, days: float | None = None) -> int:
    """Remove sessions that nobody uses, oldest first, until all take at most so many bytes.

    Those that were last used longer ago than `days` go in any case. Returns what is left of others.
    """
    others = [each for each in sessions(directory) if each.session_id != own]
    total = sum(each.bytes for each in others)
    for each in others:
        is_old = days is not None and each.last < time.time() - days * _DAY
        if (total > most or is_old) and remove(each.path):
            total -= each.bytes
    return total


def remove(path: Path) -> bool:
    """Remove a session's checkpoints unless a program uses them; whether that was done."""
    with _lock_unused(path) as free:
        if free:
            _remove_places(path)
            shutil.rmtree(path, ignore_errors=True)
        return free


def is_in_use(path: Path) -> bool:
    """Whether a program has the session now."""
    if not (path / LOCK).exists():
        return False
    with _lock_unused(path) as free:
        return not free


def _remove_places(path: Path) -> None:
    """Remove what the session moved aside inside workspaces."""
    with contextlib.suppress(OSError):
        for line in (path / PLACES).read_text(errors="surrogateescape").splitlines():
            place = Path(line)
            if place.parent.name == ASIDE and place.name == path.name:
                shutil.rmtree(place, ignore_errors=True)
                with contextlib.suppress(OSError):
                    (place.parent / ".gitignore").unlink()
                    place.parent.rmdir()


def hold(path: Path) -> int:
    """Make a session's directory; a descriptor that keeps it from being removed while it is open.

    Whoever looks whether it is in use has it for a moment, and may be about to remove it.
    """
    while True:
        try:
            private_directory(path)
            descriptor = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:  # somebody removes it just now
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH)
        except OSError:  # a file system that knows no locks is used without
            return descriptor
        if _is_at(descriptor, path / LOCK):
            return descriptor
        os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def _lock_unused(path: Path) -> Iterator[bool]:
    try:
        descriptor = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        yield False
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(descriptor)


def _measure(path: Path) -> CheckpointUsage:
    total, count, last = 0, 0, path.stat().st_mtime
    for directory, _, names in os.walk(path):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                found = os.lstat(f"{directory}/{name}")
                total += found.st_size
                last = max(last, found.st_mtime) if directory.endswith("records") else last
        count += len(names) if directory.endswith("records") else 0
    with _lock_unused(path) as free:
        return CheckpointUsage(path.name, path, total, count, last, in_use=not free)
