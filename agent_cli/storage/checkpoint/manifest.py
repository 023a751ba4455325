"""What a directory held when it was last looked at: every file that is not ignored."""

# ruff: noqa: PTH118

import os
import stat
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field

from agent_cli.core.checkpoint import ABSENT, Change, State
from agent_cli.storage.checkpoint.git import Git, IndexEntry
from agent_cli.storage.checkpoint.watch import Watch

_RACY = 100_000_000
"""Nanoseconds for which a file that has just changed may change again without a new ctime."""
_MOST_LINKED = 1_000
_MOST_HOLLOW = 1_000

Content = Callable[[str, os.stat_result, IndexEntry | None], State]
"""Keeps what is at a path now."""


@dataclass(frozen=True)
class Seen:
    """One path as it was seen."""

    stamp: tuple[int, int] | None
    """Time of the last change and number of the file; None: look again in any case."""
    state: State
    links: int = 1


@dataclass
class Manifest:
    """The files below one root, kept up to date by looking only at what changed."""

    git: Git
    content: Content
    watch: Watch
    seen: dict[str, Seen] = field(default_factory=dict)
    """By name relative to the root."""
    nested: tuple[str, ...] = ()
    """Repositories inside, which are left alone."""
    is_empty: bool = True
    """Nothing was looked at yet."""
    _hollow: dict[str, tuple[int, tuple[str, ...]]] = field(default_factory=dict)
    """For each directory: when it last changed, and the directories in it that hold no file."""
    _trusted: dict[str, IndexEntry] = field(default_factory=dict)
    _looked: int = 0
    restamped: set[str] = field(default_factory=set)
    """Names of which something else is known since `log.write` last took them."""

    @property
    def root(self) -> str:
        """The directory."""
        return self.git.root

    def refresh(self) -> list[Change]:
        """Look again; what has changed since the last time. Raises OSError."""
        if self.watch.take() and not self.is_empty and self._linked_are_same():
            return []
        self._looked = time.time_ns()
        process = self.git.start_listing()
        try:
            known = self._stats(self.seen)
        except BaseException:
            process.kill()
            process.communicate()
            raise
        listing = self.git.listing(process)
        if self.is_empty:
            self._trust_index(listing.names)
        self.nested = listing.nested
        directories = _ancestors(listing.names)
        hollow = self._look_into(directories)
        names = dict.fromkeys((*listing.names, *directories, *hollow))
        changes = list(self._compare(names, known))
        self.watch.follow([os.path.join(self.root, name) for name in (*directories, *hollow)])
        self.is_empty, self._trusted = False, {}
        return changes

    def forget(self, names: Iterable[str]) -> None:
        """Look at these again next time, whatever their stamps say."""
        for name in names:
            if name in self.seen:
                self.seen[name] = Seen(None, self.seen[name].state)
        self.watch.doubt()

    def _stats(self, names: Collection[str]) -> dict[str, os.stat_result | None]:
        root = self.root.rstrip("/") + "/"
        return {name: _lstat(root + name) for name in names}

    def _compare(
        self, names: Collection[str], known: dict[str, os.stat_result | None]
    ) -> Iterator[Change]:
        seen, root = self.seen, self.root.rstrip("/") + "/"
        for name in names:
            found = known[name] if name in known else _lstat(root + name)
            before = seen.get(name)
            if found is None:
                continue
            if before is not None and before.stamp == (found.st_ctime_ns, found.st_ino):
                continue
            if stat.S_ISDIR(found.st_mode) and name not in self._hollow and name:
                self.nested = (*self.nested, name)  # a submodule: listed like a file
                continue
            state = self.content(root + name, found, self._trusted.get(name))
            seen[name] = Seen(self._stamp(found), state, found.st_nlink)
            self.restamped.add(name)
            if before is None or not _is_equal(before.state, state):
                yield Change(root + name, before.state if before else ABSENT, state)
        for name in seen.keys() - names:
            # What is only ignored now, or in a repository now, is still there.
            found = known.get(name)
            gone = seen.pop(name).state
            self.restamped.add(name)
            if found is None:
                yield Change(root + name, gone, ABSENT)
        for name, found in known.items():
            if found is None and name in seen:
                self.restamped.add(name)
                yield Change(root + name, seen.pop(name).state, ABSENT)

    def _stamp(self, found: os.stat_result) -> tuple[int, int] | None:
        if found.st_ctime_ns > self._looked - _RACY and not stat.S_ISDIR(found.st_mode):
            return None
        return found.st_ctime_ns, found.st_ino

    def _trust_index(self, names: Collection[str]) -> None:
        """What git has byte by byte need not be read."""
        entries = self.git.index()
        if entries:
            exact = not self.git.converts(names)
            self._trusted = {
                name: entry if exact else _untimed(entry) for name, entry in entries.items()
            }

    def _look_into(self, directories: Iterable[str]) -> list[str]:
        """The directories that hold no file at all, which git does not list."""
        found: list[str] = []
        looked: dict[str, tuple[int, tuple[str, ...]]] = {}
        with_files = set(directories)
        for name in with_files:
            path = os.path.join(self.root, name)
            status = _lstat(path)
            if status is None:
                continue
            known = self._hollow.get(name)
            if known is None or known[0] != status.st_mtime_ns or known[1]:
                known = (status.st_mtime_ns, tuple(self._hollow_in(name, with_files)))
            looked[name] = known
            found += known[1]
        for name in found:
            looked.setdefault(name, (0, ()))
        self._hollow = looked
        return found

    def _hollow_in(self, name: str, with_files: Collection[str]) -> Iterator[str]:
        prefix = f"{name}/" if name else ""
        try:
            with os.scandir(os.path.join(self.root, name)) as entries:
                inside = [each.name for each in entries if each.is_dir(follow_symlinks=False)]
        except OSError:
            return
        for each in inside:
            below = prefix + each
            if each != ".git" and below not in with_files:
                yield from _hollow_tree(self.root, below)

    def _linked_are_same(self) -> bool:
        """A file with several names can change through one that is not watched."""
        linked = [(n, s) for n, s in self.seen.items() if s.links > 1 and s.state.kind == "file"]
        if len(linked) > _MOST_LINKED:
            return False
        for name, seen in linked:
            found = _lstat(os.path.join(self.root, name))
            if found is None or seen.stamp != (found.st_ctime_ns, found.st_ino):
                return False
        return True

    def contents(self) -> set[str]:
        """The names of all bytes that are needed to take the next call back."""
        return {seen.state.content for seen in self.seen.values() if seen.state.kind == "file"}


def _lstat(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _ancestors(names: Iterable[str]) -> dict[str, None]:
    """Every directory on the way to a file, the root as an empty name first."""
    found: dict[str, None] = {"": None}
    for name in names:
        parent = name.rpartition("/")[0]
        while parent not in found:
            found[parent] = None
            parent = parent.rpartition("/")[0]
    return found


def _hollow_tree(root: str, name: str) -> list[str]:
    """The directory and those below it, if there is no file in any of them."""
    found, waiting = [], [name]
    while waiting:
        below = waiting.pop()
        found.append(below)
        try:
            with os.scandir(os.path.join(root, below)) as entries:
                for entry in entries:
                    if not entry.is_dir(follow_symlinks=False) or len(found) > _MOST_HOLLOW:
                        return []
                    waiting.append(f"{below}/{entry.name}")
        except OSError:
            return []
    return found


def _is_equal(before: State, after: State) -> bool:
    """Whether nothing changed that an undo would bring back.

    A directory's time changes with each file in it; that alone is no change.
    """
    if before.kind == after.kind == "directory":
        return before.mode == after.mode
    same = before.is_same(after) and before.mode == after.mode
    return same and (before.kind != "file" or before.mtime_ns == after.mtime_ns)


def _untimed(entry: IndexEntry) -> IndexEntry:
    """The entry, so that no file's stat fits it: its bytes must be compared."""
    return IndexEntry(0, 0, 0, -1, entry.mode, entry.oid)
