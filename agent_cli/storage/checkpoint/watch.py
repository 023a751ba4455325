"""Tells that nothing happened in some directories since it was last asked (Linux: inotify)."""

import ctypes
import ctypes.util
import os
import sys
from collections.abc import Collection
from pathlib import Path

_MASK = 0x2 | 0x4 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800 | 0x01000000
"""Modified, attributes, closed after writing, moved, created, deleted; only of a directory."""
_LOCAL = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "tmpfs", "overlay", "f2fs", "zfs"})
"""Elsewhere another machine can change files without the kernel's knowledge."""
_MOST = 20_000
"""Directories; a person's other programs need watches too."""


class Watch:
    """Watches directories. What it cannot watch for certain it says to have changed."""

    def __init__(self, root: str) -> None:
        self._directories: dict[str, int] = {}
        self._settled = False
        self._descriptor = -1
        if sys.platform == "linux" and _is_local(root):
            self._libc = ctypes.CDLL(None, use_errno=True)
            self._descriptor = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)

    def take(self) -> bool:
        """Whether nothing has changed since the last `take`; False where that is not known."""
        if self._descriptor < 0:
            return False
        changed = False
        while True:
            try:
                changed = bool(os.read(self._descriptor, 65536)) or changed
            except BlockingIOError:
                break
            except OSError:
                self.close()
                return False
        quiet, self._settled = self._settled and not changed, True
        return quiet

    def doubt(self) -> None:
        """The next `take` cannot say that nothing has changed."""
        self._settled = False

    def follow(self, directories: Collection[str]) -> None:
        """Watch exactly these from now on.

        What happened in a new one before it was watched is not known, so it counts as changed.
        """
        if self._descriptor < 0:
            return
        if len(directories) > _MOST:
            self.close()
            return
        for path in self._directories.keys() - set(directories):
            self._libc.inotify_rm_watch(self._descriptor, self._directories.pop(path))
            self._settled = False
        for path in directories:
            if path not in self._directories and not self._add(path):
                self.close()
                return

    def close(self) -> None:
        """Stop watching."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
            self._directories.clear()

    def _add(self, path: str) -> bool:
        watch = self._libc.inotify_add_watch(self._descriptor, os.fsencode(path), _MASK)
        self._settled = False
        if watch >= 0:
            self._directories[path] = watch
        elif ctypes.get_errno() not in (2, 20):  # it is gone: its parent tells so
            return False
        return True


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
