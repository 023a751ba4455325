"""Tells in which directories nothing can have changed since they were listed (Linux: inotify).

It answers that question only, and where it is not certain, the answer is no: such a directory is
listed again. Of what the kernel does not tell, it finds files that may be written through memory,
and disks that were mounted since. Files with several names are left to the manifest.
"""

# ruff: noqa: PTH115, PTH208

import contextlib
import ctypes
import os
import re
import stat
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from agent_cli.storage.checkpoint.states import lstat

_OPENED, _OVERFLOW, _ENDED, _IS_DIRECTORY = 0x20, 0x4000, 0x2000 | 0x8000, 0x40000000
_MASK = 0x2 | 0x4 | 0x8 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800 | _OPENED | 0x03000000
"""Written, attributes, closed after writing, moved, made, deleted, opened; only of directories."""
_EVENT = struct.Struct("iIII")
_MAX_READ_BYTES = 1 << 18
_LOCAL = frozenset({b"ext2", b"ext3", b"ext4", b"xfs", b"btrfs", b"tmpfs", b"f2fs"})
"""Elsewhere files can change without this kernel's knowledge."""
_SHARE = 4
"""The part of what the kernel allows that is used: other programs need watches too."""
_ALLOWED = Path("/proc/sys/fs/inotify/max_user_watches")
_MOUNTS = Path("/proc/self/mountinfo")
_ESCAPED = re.compile(rb"\\([0-7]{3})")


class Watch:
    """Watches the directories below some places. What it cannot watch, it never vouches for."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = tuple(roots)
        self._descriptor = -1
        self._watches: dict[str, int] = {}
        self._paths: dict[int, str] = {}
        self._stirred: set[str] = set()
        """Where something happened since the last look began."""
        self._is_opened = False
        """Whether somebody opened a file since then."""
        self._held: set[str] = set()
        """Where there are files that may be written without the kernel's telling."""
        self.changed: set[str] = set()
        """Where something may have changed between the beginnings of the last two looks."""
        self.restart()

    @property
    def is_on(self) -> bool:
        """Whether it can vouch for anything."""
        return self._descriptor >= 0

    def restart(self) -> None:
        """Vouch for nothing that was listed so far."""
        self.close()
        self._place = _find_place(self._roots)
        if self._place is not None:
            self._libc = ctypes.CDLL(None, use_errno=True)
            self._descriptor = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
            self._most = _count_allowed()
            self._is_opened = True

    def take(self) -> None:
        """Begin a look: find out where something may have changed since the last."""
        self.drain()
        if not self.is_on:
            return
        if _find_place(self._roots) != self._place:
            self.restart()
        if self._is_opened or self._held:
            self._is_opened = False
            self._held = set(_find_held(self._roots))
        self.changed, self._stirred = self._stirred | self._held, set()
        # What happens in a directory changes its own time too, which is listed in the one above.
        self.changed.update({path.rpartition("/")[0] for path in self.changed})

    def vouches(self, directory: str) -> bool:
        """Whether nothing in a directory changed between the last two looks."""
        return directory in self._watches and directory not in self.changed

    def vouches_for_all(self, directories: Mapping[str, object]) -> bool:
        """Whether nothing changed in any of them between the last two looks."""
        return not self.changed and directories.keys() <= self._watches.keys()

    def add(self, directory: str) -> None:
        """Watch a directory from now on; it is about to be listed."""
        if not self.is_on:
            return
        watch = self._libc.inotify_add_watch(self._descriptor, os.fsencode(directory), _MASK)
        before = self._watches.pop(directory, None)
        if before not in (None, watch):
            self._paths.pop(before, None)
            self._libc.inotify_rm_watch(self._descriptor, before)
        if watch >= 0:
            self._watches.pop(self._paths.get(watch, ""), None)  # it was moved from there
            self._watches[directory], self._paths[watch] = watch, directory
        if len(self._watches) > self._most:
            self.close()
        elif len(self._watches) % 500 == 0:
            self.drain()

    def drain(self) -> None:
        """Take what the kernel has to tell, before it is too much for it."""
        while self.is_on:
            try:
                data = os.read(self._descriptor, _MAX_READ_BYTES)
            except BlockingIOError:
                return
            except OSError:
                self.close()
                return
            if not self._read(data):
                self.restart()

    def close(self) -> None:
        """Stop watching: from now on nothing is known."""
        if self.is_on:
            os.close(self._descriptor)
        self._descriptor = -1
        self._watches.clear()
        self._paths.clear()

    def _read(self, data: bytes) -> bool:
        """Note where the events took place; False if the kernel could not keep all of them."""
        at = 0
        while at < len(data):
            watch, mask, _, length = _EVENT.unpack_from(data, at)
            at += _EVENT.size + length
            if mask & _OVERFLOW:
                return False
            path = self._paths.get(watch)
            if path is None:
                continue
            if mask & _OPENED:
                self._is_opened = self._is_opened or not mask & _IS_DIRECTORY
            else:
                self._stirred.add(path)
            if mask & _ENDED:
                del self._paths[watch], self._watches[path]
        return True


def _count_allowed() -> int:
    try:
        return int(_ALLOWED.read_text()) // _SHARE
    except (OSError, ValueError):
        return 0


def _find_place(roots: Sequence[str]) -> object:
    """By which it is seen that other disks or directories are there now; None: not all that is
    below is on disks of this machine alone."""
    try:
        text = _MOUNTS.read_bytes()
    except OSError:
        return None
    places = {}
    for words in map(bytes.split, text.splitlines()):
        place = _ESCAPED.sub(lambda found: bytes([int(found[1], 8)]), words[4])
        places[os.fsdecode(place)] = words[words.index(b"-") + 1]
    for root in roots:
        above = root
        while above not in places and above != "/":
            above = above.rpartition("/")[0] or "/"
        below = root.rstrip("/") + "/"
        if places.get(above) not in _LOCAL or any(each.startswith(below) for each in places):
            return None
    return text, [status and (status.st_dev, status.st_ino) for status in map(lstat, roots)]


def _find_held(roots: Sequence[str]) -> Iterator[str]:
    """The directories of files that a process has mapped or could map, and then write without
    anybody's being told."""
    prefixes = tuple(os.fsencode(root.rstrip("/") + "/") for root in roots)
    for process in os.listdir(b"/proc"):
        if not process.isdigit():
            continue
        with contextlib.suppress(OSError):  # another user's, or it has ended
            for path in (*_mapped(process, prefixes), *_opened(process, prefixes)):
                yield os.fsdecode(path.rpartition(b"/")[0])


def _mapped(process: bytes, prefixes: tuple[bytes, ...]) -> Iterator[bytes]:
    """The files that a process shares with the disk in its memory."""
    maps = Path(os.fsdecode(b"/proc/%s/maps" % process)).read_bytes()
    if any(prefix in maps for prefix in prefixes):
        for line in maps.splitlines():
            words = line.split(None, 5)
            if words[1].endswith(b"s") and words[-1].startswith(prefixes):
                yield words[-1].replace(b"\\012", b"\n")


def _opened(process: bytes, prefixes: tuple[bytes, ...]) -> Iterator[bytes]:
    """The files that a process has open for writing."""
    for each in os.listdir(b"/proc/%s/fd" % process):
        with contextlib.suppress(FileNotFoundError):
            target = os.readlink(link := b"/proc/%s/fd/%s" % (process, each))
            if target.startswith(prefixes) and os.lstat(link).st_mode & stat.S_IWUSR:
                yield target
