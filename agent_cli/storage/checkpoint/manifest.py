"""What directories held when they were last looked at: every name in them, ignored ones included.

A path counts as new only where the directory it is in was listed completely before, without it.
"""

import gc
import os
import stat
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from agent_cli.core.undo.checkpoint import ABSENT, Change, State
from agent_cli.lib.language import tr
from agent_cli.storage.checkpoint.quota import ASIDE
from agent_cli.storage.checkpoint.states import lstat

MAX_ENTRIES = 400_000
_RACY_NS = 100_000_000
"""For so long a file that has just changed may change again without a new time."""

Stamp = tuple[int, int, int]


class TooManyFiles(OSError):
    """There is more than can be looked at before every command."""

    def __init__(self, path: str) -> None:
        text = tr("there are more than {most:,} files in {path}", most=MAX_ENTRIES, path=path)
        super().__init__(None, text)


class Seen(NamedTuple):
    """One path as it was seen."""

    stamp: Stamp | None
    """Time of the last change, number and size of the file; None: look again in any case."""
    state: State


class Top(NamedTuple):
    """A place that is looked at."""

    path: str
    is_deep: bool = True
    """With all that is below; otherwise only itself and, of a directory, the names in it."""


class Content(Protocol):
    """Makes a state of what is on the disk."""

    def choose(
        self, found: dict[str, os.stat_result], known: Iterable[str], *, is_first: bool
    ) -> None:
        """Get ready to look at these, which are new or different."""
        ...

    def state(self, path: str, status: os.stat_result) -> State:
        """What is at a path."""
        ...


@dataclass
class _Scan:
    """What one look found."""

    same: dict[str, Seen] = field(default_factory=dict)
    found: dict[str, os.stat_result] = field(default_factory=dict)
    """What is new or different."""
    listed: set[str] = field(default_factory=set)
    unlisted: set[str] = field(default_factory=set)


@dataclass
class Manifest:
    """Everything below some places, kept up to date by asking the disk about each name."""

    tops: tuple[Top, ...]
    content: Content
    seen: dict[str, Seen] = field(default_factory=dict)
    listed: set[str] = field(default_factory=set)
    """Directories of which every name was seen at the last look."""
    unlisted: set[str] = field(default_factory=set)
    """Directories that could not be listed."""
    is_empty: bool = True
    """Nothing was looked at yet."""
    fresh: set[str] = field(default_factory=set)
    """Paths of which something new is known; whoever writes it down clears it."""

    def look(self) -> list[Change]:
        """Look again; what has changed since the last time. Raises OSError."""
        enabled = gc.isenabled()
        gc.disable()  # so many small objects make it look for garbage again and again
        try:
            started = time.time_ns()
            scan = self._scan()
            self.content.choose(scan.found, scan.same, is_first=self.is_empty)
            return self._compare(scan, started)
        finally:
            if enabled:
                gc.enable()

    def put(self, path: str, state: State) -> None:
        """What is at a path is known better now."""
        status = lstat(path)
        if status is not None and path in self.seen:
            self.seen[path] = Seen(_stamp(status), state)
            self.fresh.add(path)

    # ── looking ──────────────────────────────────────────────────────────────────────────────────

    def _scan(self) -> _Scan:
        scan, waiting = _Scan(), list[str]()
        for top in self.tops:
            status = lstat(top.path)
            if status is None:
                continue
            self._sort(scan, top.path, status)
            if stat.S_ISDIR(status.st_mode):
                if top.is_deep:
                    waiting.append(top.path)
                else:
                    waiting += self._new_below(scan, top.path)
        self._descend(scan, waiting)
        for path in self._below(scan.unlisted):
            scan.same.setdefault(path, self.seen[path])  # not seen now: as far as is known, there
        return scan

    def _descend(self, scan: _Scan, waiting: list[str]) -> None:
        seen, same, found = self.seen, scan.same, scan.found
        is_directory, scandir, nobody = stat.S_ISDIR, os.scandir, Seen(None, ABSENT)
        while waiting:
            directory = waiting.pop()
            try:
                with scandir(directory) as entries:
                    inside = list(entries)
            except FileNotFoundError:
                continue
            except OSError:
                scan.unlisted.add(directory)
                continue
            scan.listed.add(directory)
            for entry in inside:
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                path = entry.path
                if is_directory(status.st_mode):
                    if entry.name == ASIDE:
                        continue
                    if entry.name != ".git":
                        waiting.append(path)
                before = seen.get(path, nobody)
                if before.stamp == (status.st_ctime_ns, status.st_ino, status.st_size):
                    same[path] = before
                else:
                    found[path] = status
            if len(same) + len(found) > MAX_ENTRIES:
                raise TooManyFiles(self.tops[0].path)

    def _sort(self, scan: _Scan, path: str, status: os.stat_result) -> None:
        before = self.seen.get(path)
        if before is not None and before.stamp == _stamp(status):
            scan.same[path] = before
        else:
            scan.found[path] = status

    def _new_below(self, scan: _Scan, directory: str) -> Iterator[str]:
        """Note the names in a directory; those that are new since the last look are gone into."""
        shallow = _Scan()
        try:
            names = os.listdir(directory)  # noqa: PTH208
        except OSError:
            scan.unlisted.add(directory)
            return
        scan.listed.add(directory)
        for name in names:
            path = f"{directory.rstrip('/')}/{name}"
            status = lstat(path)
            if status is not None and path not in scan.found and path not in scan.same:
                self._sort(shallow, path, status)
                is_new = not self.is_empty and path not in self.seen
                if is_new and stat.S_ISDIR(status.st_mode) and name not in (".git", ASIDE):
                    yield path
        scan.same |= shallow.same
        scan.found |= shallow.found

    def _below(self, directories: Iterable[str]) -> list[str]:
        prefixes = tuple(each.rstrip("/") + "/" for each in directories)
        return [path for path in self.seen if path.startswith(prefixes)] if prefixes else []

    # ── comparing ────────────────────────────────────────────────────────────────────────────────

    def _compare(self, scan: _Scan, started: int) -> list[Change]:
        changes: list[Change] = []
        now, made = scan.same, set[str]()
        names = scan.found if self.is_empty else sorted(scan.found)
        for path in names:
            status = scan.found[path]
            state = self.content.state(path, status)
            if not state.exists:
                continue
            is_racy = status.st_ctime_ns > started - _RACY_NS
            now[path] = Seen(None if is_racy else _stamp(status), state)
            self.fresh.add(path)
            if self.is_empty:
                continue
            before = self.seen.get(path)
            if before is not None:
                if not before.state.is_equal(state):
                    changes.append(Change(path, before.state, state))
            elif self._was_absent(path, made):
                changes.append(Change(path, ABSENT, state))
                if state.kind == "directory":
                    made.add(path)
        for path in self.seen.keys() - now.keys():
            self.fresh.add(path)
            if (gone := self.seen[path].state).exists:
                changes.append(Change(path, gone, ABSENT))
        for top in self.tops:
            if top.path not in now:
                now[top.path] = Seen(None, ABSENT)  # seen not to be there
        self.seen, self.listed, self.unlisted = now, scan.listed, scan.unlisted
        self.is_empty = False
        return changes

    def _was_absent(self, path: str, made: set[str]) -> bool:
        """Whether this name was surely not there at the last look."""
        parent = path.rpartition("/")[0] or "/"
        if parent in self.listed or parent in made:
            return True
        above = self.seen.get(parent)
        return above is not None and above.state.kind not in ("directory", "repository")


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_ctime_ns, status.st_ino, status.st_size
