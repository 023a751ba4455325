"""What an undo is measured by: a complete picture of a directory, made without the program's help."""

# Names are bytes here: any may stand on a disk.
# ruff: noqa: PTH115, PTH119, PTH123

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

Photo = dict[str, tuple[object, ...]]


def photograph(root: Path, *, times: bool = True) -> Photo:
    """Kind, mode, bytes and link target of everything below a directory, and of itself.

    Of a repository's own directory only that it is there: see `inside_git`. Times are those of what
    is no directory; a directory's own time changes with every name in it.
    """
    found: Photo = {}
    waiting = [os.fsencode(root)]
    while waiting:
        path = waiting.pop()
        status = os.lstat(path)
        mode, when = stat.S_IMODE(status.st_mode), status.st_mtime_ns if times else 0
        name = os.fsdecode(os.path.relpath(path, os.fsencode(root)))
        if stat.S_ISDIR(status.st_mode):
            is_git = os.path.basename(path) == b".git"
            found[name] = ("repository",) if is_git else ("directory", oct(mode))
            if not is_git:
                with os.scandir(path) as entries:
                    waiting += [entry.path for entry in entries]
        elif stat.S_ISLNK(status.st_mode):
            found[name] = ("link", os.readlink(path), when)
        elif stat.S_ISREG(status.st_mode):
            found[name] = ("file", oct(mode), status.st_size, _digest(path, status.st_size), when)
        else:
            found[name] = ("special", oct(status.st_mode))
    return found


def inside_git(root: Path) -> Photo:
    """What a repository's own directory holds, to the byte."""
    return {
        str(path.relative_to(root)): (oct(path.lstat().st_mode), path.read_bytes())
        for path in sorted((root / ".git").rglob("*"))
        if path.is_file()
    }


def differences(before: Photo, after: Photo) -> dict[str, tuple[object, object]]:
    """What is not the same, by name."""
    names = sorted(before.keys() | after.keys())
    return {n: (before.get(n), after.get(n)) for n in names if before.get(n) != after.get(n)}


def _digest(path: bytes, size: int) -> str:
    """A name for the bytes of a file; long stretches of nothing are jumped over."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        if size < 10_000_000:
            return hashlib.sha256(file.read()).hexdigest()
        at = 0
        while at < size:
            try:
                at = os.lseek(file.fileno(), at, os.SEEK_DATA)
            except OSError:
                break
            end = os.lseek(file.fileno(), at, os.SEEK_HOLE)
            file.seek(at)
            data = file.read(end - at)
            for start in range(0, len(data), 4096):
                if piece := data[start : start + 4096].strip(b"\0"):
                    digest.update(b"%d:" % (at + start) + piece)
            at = end
    return digest.hexdigest()
