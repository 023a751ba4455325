"""Tells in which directories nothing happened since it was last asked (Linux: inotify)."""

import ctypes
import errno
import os
import struct
import sys
from collections.abc import Collection
from pathlib import Path

_MASK = 0x2 | 0x4 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800 | 0x01000000
"""Modified, attributes, closed after writing, moved, created, deleted; only of a directory."""
_OVERFLOW, _ENDED = 0x4000, 0x8000
_EVENT = struct.Struct("iIII")
_LOCAL = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "tmpfs", "overlay", "f2fs", "zfs"})
"""Elsewhere another machine can change files without the kernel's knowledge."""
_MOST, _SHARE = 20_000, 8
"""Directories, and the part of what the kernel allows: other programs need watches too."""
_ALLOWED = Path("/proc/sys/fs/inotify/max_user_watches")


class Watch:
    """Watches directories. What it cannot watch for certain it says to have changed."""

    def __init__(self, root: str) -> None:
        self._watches: dict[str, int] = {}
        self._directories: dict[int, str] = {}
        self._fresh: set[str] = set()
        """Directories of which it is not known what happened before they were watched."""
        self._descriptor = -1
        if sys.platform == "linux" and _is_local(root):
            self._libc = ctypes.CDLL(None, use_errno=True)
            self._descriptor = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)

    def take(self) -> set[str] | None:
        """The directories in which something may have changed since the last `take`.

        None: it is not known which.
        """
        if self._descriptor < 0:
            return None
        changed, self._fresh = self._fresh, set()
        while True:
            try:
                data = os.read(self._descriptor, 65536)
            except BlockingIOError:
                return changed
            except OSError:
                self.close()
                return None
            if not self._read(data, changed):
                self.close()
                return None

    def follow(self, directories: Collection[str]) -> None:
        """Watch exactly these from now on."""
        if self._descriptor < 0:
            return
        if len(directories) > _most():
            self.close()
            return
        for path in self._watches.keys() - set(directories):
            watch = self._watches.pop(path)
            self._directories.pop(watch, None)
            self._libc.inotify_rm_watch(self._descriptor, watch)
        for path in directories:
            if path not in self._watches and not self._add(path):
                self.close()
                return

    def close(self) -> None:
        """Stop watching: from now on nothing is known."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _read(self, data: bytes, changed: set[str]) -> bool:
        """Add where the events took place; False if the kernel could not keep all of them."""
        at = 0
        while at < len(data):
            watch, mask, _, length = _EVENT.unpack_from(data, at)
            at += _EVENT.size + length
            if mask & _OVERFLOW:
                return False
            path = self._directories.get(watch)
            if path is not None:
                changed.add(path)
                if mask & _ENDED:
                    self._watches.pop(path, None)
                    del self._directories[watch]
        return True

    def _add(self, path: str) -> bool:
        watch = self._libc.inotify_add_watch(self._descriptor, os.fsencode(path), _MASK)
        self._fresh.add(path)
        if watch >= 0:
            self._watches[path] = watch
            self._directories[watch] = path
        elif ctypes.get_errno() not in (errno.ENOENT, errno.ENOTDIR):  # its parent tells so
            return False
        return True


def _most() -> int:
    try:
        return min(_MOST, int(_ALLOWED.read_text()) // _SHARE)
    except (OSError, ValueError):
        return 0


def _is_local(root: str) -> bool:
    """Whether the directory and all that is mounted below it is on disks of this machine."""
    best, kind = "", ""
    try:
        lines = Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return False
    for line in lines:
        left, _, right = line.partition(" - ")
        place = left.split(" ")[4].encode().decode("unicode_escape")
        if place.startswith(root.rstrip("/") + "/"):
            return False
        is_above = root == place or root.startswith(place.rstrip("/") + "/")
        if is_above and len(place) >= len(best):
            best, kind = place, right.split(" ")[0]
    return kind in _LOCAL
