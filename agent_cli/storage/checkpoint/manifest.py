"""What a directory held when it was last looked at: every file that is not ignored.

A full look asks git which files there are and the disk about each. Where the kernel tells in which
directories something happened since then, only those are looked at.
"""

# ruff: noqa: PTH118

import gc
import os
import stat
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from agent_cli.core.undo.checkpoint import ABSENT, PathChange, PathState
from agent_cli.storage.checkpoint.git import EMPTY_LISTING, GitDirectory, GitListing, IndexEntry
from agent_cli.storage.checkpoint.watch import Watch

_RACY_NS = 100_000_000
"""Nanoseconds for which a file that has just changed may change again without a new ctime."""
_MAX_LINKED = 1_000
_MAX_HOLLOW = 1_000
_MAX_PLACES = 500
"""Directories, or unknown names in them; with more, a full look is cheaper."""

Content = Callable[[str, os.stat_result, IndexEntry | None], PathState]
"""Keeps what is at a path now."""


class ManifestEntry(NamedTuple):
    """One path as it was seen."""

    stamp: tuple[int, int] | None
    """Time of the last change and number of the file; None: look again in any case."""
    state: PathState


class _FullLook(Exception):
    """What happened is too much, or too odd, to be looked at in parts."""


@dataclass
class Manifest:
    """The files below one root, kept up to date by looking only at what changed."""

    git: GitDirectory
    content: Content
    watch: Watch
    seen: dict[str, ManifestEntry] = field(default_factory=dict)
    """By name relative to the root."""
    nested: set[str] = field(default_factory=set)
    """Repositories inside, which are left alone."""
    is_empty: bool = True
    """Nothing was looked at yet."""
    fresh: set[str] = field(default_factory=set)
    """Names of which something new is known; whoever writes it down clears it."""
    _directories: dict[str, int] = field(default_factory=dict)
    """Every directory, and when it was last changed; the root is the empty name."""
    _linked: set[str] = field(default_factory=set)
    """Files with several names: they can change through one that is not watched."""
    _children: dict[str, list[str]] | None = None
    _trusted: Mapping[str, IndexEntry] = field(default_factory=dict)
    _looked: int = 0
    _listing: GitListing = field(default_factory=lambda: EMPTY_LISTING)
    _listed: set[str] = field(default_factory=set)

    @property
    def root(self) -> str:
        """The directory."""
        return self.git.root

    def refresh(self) -> list[PathChange]:
        """Look again; what has changed since the last time. Raises OSError."""
        places = self.watch.take()
        self._looked = time.time_ns()
        has_looked = bool(self._directories)  # what was read from the log is not watched yet
        if places is not None and has_looked and len(self._linked) <= _MAX_LINKED:
            try:
                return self._look_at(places)
            except _FullLook:
                pass
        enabled = gc.isenabled()
        gc.disable()  # so many small objects make it look for garbage again and again
        try:
            return self._look_at_all()
        finally:
            if enabled:
                gc.enable()

    def contents(self) -> set[str]:
        """The names of all bytes that are needed to take the next call back."""
        return {seen.state.content for seen in self.seen.values() if seen.state.kind == "file"}

    # ── everything ───────────────────────────────────────────────────────────────────────────────

    def _look_at_all(self) -> list[PathChange]:
        process = self.git.start_listing()
        try:
            known = self._different()
        except BaseException:
            process.kill()
            process.communicate()
            raise
        listing = self.git.listing(process, self._listing)
        if self.is_empty:
            self._trust_index(listing.names)
        places = set(self._directories)
        if listing is not self._listing:
            self.nested = set(listing.nested)
            self._listed = set(listing.names)
            places |= _ancestors(listing.names).keys()
        self._look_into(places, places)
        if listing is not self._listing:
            for name in self.seen.keys() - self._listed - self._directories.keys() - known.keys():
                self._drop(name)  # it is still there, but ignored or in a repository now
        names = known.keys() | ((self._listed | self._directories.keys()) - self.seen.keys())
        changes = self._compare(sorted(names), known)
        changes += self._missing(known)
        self.watch.follow([os.path.join(self.root, name) for name in self._directories])
        self.is_empty, self._trusted, self._children = False, {}, None
        self._listing = listing
        return changes

    def _different(self) -> dict[str, os.stat_result | None]:
        """Of all that was seen, what is not as it was: what the disk says of it now."""
        found: dict[str, os.stat_result | None] = {}
        root, lstat = self.root.rstrip("/") + "/", os.lstat
        for name, (stamp, _) in self.seen.items():
            try:
                status = lstat(root + name)
            except OSError:
                found[name] = None
                continue
            if stamp is None or status.st_ctime_ns != stamp[0] or status.st_ino != stamp[1]:
                found[name] = status
        return found

    def _drop(self, name: str) -> None:
        del self.seen[name]
        self.fresh.add(name)
        self._linked.discard(name)

    def _trust_index(self, names: Collection[str]) -> None:
        """What git has byte by byte need not be read."""
        entries = self.git.index()
        if entries and self.git.converts(names):
            entries = {name: entry.unsure() for name, entry in entries.items()}
        self._trusted = entries

    # ── parts ────────────────────────────────────────────────────────────────────────────────────

    def _look_at(self, places: Collection[str]) -> list[PathChange]:
        """Look at what is directly in these directories; raises _FullLook."""
        if len(places) > _MAX_PLACES:
            raise _FullLook
        if self._children is None:
            self._children = _by_parent(self.seen)
        inside, unknown = set(self._linked), list[str]()
        for place in places:
            name = "" if place == self.root else place[len(self.root.rstrip("/")) + 1 :]
            inside.add(name)
            inside.update(self._children.get(name, ()))
            unknown += self._unknown_in(name)
        if not unknown and not inside:
            return []
        if len(unknown) > _MAX_PLACES or any(each.endswith(".gitignore") for each in unknown):
            raise _FullLook
        known = {name: _lstat(os.path.join(self.root, name)) for name in inside}
        self._refuse_moved(known)
        listing = self.git.listing(self.git.start_listing(unknown)) if unknown else None
        new = [name for name in listing.names if name not in self.seen] if listing else []
        self.nested |= set(listing.nested) if listing else set()
        with_files = _ancestors(new).keys() | self._directories.keys()
        before = self._directories.copy()
        touched = {name for name in inside if name in before} | (with_files - before.keys())
        self._look_into(touched, with_files)
        names = dict.fromkeys((*inside, *new, *(self._directories.keys() - before.keys())))
        changes = self._compare(names, known)
        changes += self._missing(known)
        if before.keys() != self._directories.keys():
            self.watch.follow([os.path.join(self.root, name) for name in self._directories])
        return changes

    def _unknown_in(self, name: str) -> list[str]:
        """What is directly in a directory and not in the manifest: it is new, or ignored."""
        try:
            with os.scandir(os.path.join(self.root, name)) as entries:
                names = [f"{name}/{each.name}" if name else each.name for each in entries]
        except OSError:
            return []
        return [each for each in names if each not in self.seen and each != ".git"]

    def _refuse_moved(self, known: Mapping[str, os.stat_result | None]) -> None:
        """What is below a directory that moved is told by nobody; rules may change with a file."""
        for name, found in known.items():
            seen = self.seen.get(name)
            if seen is None:
                continue
            if seen.state.kind == "directory":
                was = seen.stamp[1] if seen.stamp else None
                if found is None or not stat.S_ISDIR(found.st_mode) or found.st_ino != was:
                    raise _FullLook
            if name.endswith(".gitignore") and (found is None or seen.stamp != _stamp(found)):
                raise _FullLook

    # ── both ─────────────────────────────────────────────────────────────────────────────────────

    def _compare(
        self, names: Iterable[str], known: Mapping[str, os.stat_result | None]
    ) -> list[PathChange]:
        """What is new or different, with its bytes kept."""
        changes = []
        seen, root = self.seen, self.root.rstrip("/") + "/"
        for name in names:
            found = known[name] if name in known else _lstat(root + name)
            if found is None:
                continue
            before = seen.get(name)
            if before is not None and before.stamp == (found.st_ctime_ns, found.st_ino):
                continue
            if stat.S_ISDIR(found.st_mode) and name not in self._directories:
                self.nested.add(name)  # a submodule: listed like a file
                continue
            state = self.content(root + name, found, self._trusted.get(name))
            if not state.exists:
                continue
            is_racy = found.st_ctime_ns > self._looked - _RACY_NS and state.kind != "directory"
            seen[name] = ManifestEntry(None if is_racy else _stamp(found), state)
            self.fresh.add(name)
            self._note_links(name, found)
            if before is None and self._children is not None:
                self._children.setdefault(name.rpartition("/")[0], []).append(name)
            if before is None or not is_equal(before.state, state):
                path = root + name if name else self.root
                changes.append(PathChange(path, before.state if before else ABSENT, state))
        return changes

    def _note_links(self, name: str, found: os.stat_result) -> None:
        if found.st_nlink > 1 and not stat.S_ISDIR(found.st_mode):
            self._linked.add(name)
        else:
            self._linked.discard(name)

    def _missing(self, known: Mapping[str, os.stat_result | None]) -> list[PathChange]:
        """What is gone of these."""
        changes = []
        for name in [name for name, found in known.items() if found is None]:
            gone = self.seen.pop(name, None)
            if gone is not None:
                self.fresh.add(name)
                self._linked.discard(name)
                self._directories.pop(name, None)
                changes.append(PathChange(os.path.join(self.root, name), gone.state, ABSENT))
        return changes

    def _look_into(self, places: Iterable[str], with_files: Collection[str]) -> None:
        """Bring the directories up to date: those with files, and those that hold none at all,
        which git does not list."""
        for name in places:
            status = _lstat(os.path.join(self.root, name))
            if status is None or self._directories.get(name) == status.st_mtime_ns:
                continue
            self._directories[name] = status.st_mtime_ns
            for hollow in self._hollow_in(name, with_files):
                self._directories.setdefault(hollow, 0)

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


def is_equal(before: PathState, after: PathState) -> bool:
    """Whether nothing changed that an undo would bring back.

    A directory's time changes with each file in it; that alone is no change.
    """
    if before.kind == after.kind == "directory":
        return before.mode == after.mode
    same = before.is_same(after) and before.mode == after.mode
    return same and (before.kind != "file" or before.mtime_ns == after.mtime_ns)


def _lstat(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _stamp(found: os.stat_result) -> tuple[int, int]:
    return found.st_ctime_ns, found.st_ino


def _ancestors(names: Iterable[str]) -> dict[str, None]:
    """Every directory on the way to a file, the root as an empty name first."""
    found: dict[str, None] = {"": None}
    for name in names:
        parent = name.rpartition("/")[0]
        while parent not in found:
            found[parent] = None
            parent = parent.rpartition("/")[0]
    return found


def _by_parent(names: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in names:
        if name:
            found.setdefault(name.rpartition("/")[0], []).append(name)
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
                    if not entry.is_dir(follow_symlinks=False) or len(found) > _MAX_HOLLOW:
                        return []
                    waiting.append(f"{below}/{entry.name}")
        except OSError:
            return []
    return found
