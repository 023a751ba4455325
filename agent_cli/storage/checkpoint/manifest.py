"""What directories held when they were last looked at: every name in them, ignored ones included.

A path counts as new only where the directory it is in was listed completely before, without it.
"""

import os
import stat
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from agent_cli.core.undo.checkpoint import ABSENT, PathChange, PathState
from agent_cli.lib.language import tr
from agent_cli.storage.checkpoint.quota import ASIDE
from agent_cli.storage.checkpoint.states import has_names, is_repository, lstat
from agent_cli.storage.checkpoint.watch import Watch

MAX_ENTRIES = 400_000
_RACY_NS = 100_000_000
"""For so long a file that has just changed may change again without a new time."""

_DRAIN_EVERY = 1_000

Stamp = tuple[int, int, int, int]


class TooManyFiles(OSError):
    """There is more than can be looked at before every command."""

    def __init__(self, path: str) -> None:
        text = tr("there are more than {most:,} files in {path}", most=MAX_ENTRIES, path=path)
        super().__init__(None, text)


class ManifestEntry(NamedTuple):
    """One path as it was seen."""

    stamp: Stamp | None
    """Time of the last change, number, size and names of the file; None: look again in any case."""
    state: PathState


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

    def state(self, path: str, status: os.stat_result) -> PathState:
        """What is at a path."""
        ...


class Listing(NamedTuple):
    """Every name in a directory."""

    names: dict[str, tuple[int, int] | None]
    """With the time of its last change and its number; None: look at it again in any case."""
    below: list[str]
    """The directories in it that are looked at too."""


@dataclass
class _Scan:
    """What one look found."""

    found: dict[str, os.stat_result] = field(default_factory=dict)
    """What is new or different."""
    listings: dict[str, Listing] = field(default_factory=dict)
    unlisted: set[str] = field(default_factory=set)
    exchanged: set[str] = field(default_factory=set)
    """Directories that were not there at the last look, or are others, and all below them."""
    count: int = 0

    def keep(self, directory: str, known: Listing) -> list[str]:
        """A directory is as it is known."""
        self.listings[directory] = known
        self.count += len(known.names)
        return known.below


@dataclass
class Manifest:
    """Everything below some places, kept up to date by asking the disk about each name."""

    tops: tuple[Top, ...]
    content: Content
    skipped: str = ""
    """Where our own files are, which no call changes."""
    seen: dict[str, ManifestEntry] = field(default_factory=dict)
    unlisted: set[str] = field(default_factory=set)
    """Directories that could not be listed."""
    is_empty: bool = True
    """Nothing was looked at yet."""
    fresh: set[str] = field(default_factory=set)
    """Paths of which something new is known; whoever writes it down clears it."""
    watch: Watch | None = None
    """Tells which directories need not be listed again."""
    _listings: dict[str, Listing] = field(default_factory=dict)
    """Directories of which every name was seen at the last look."""
    _shared: set[str] = field(default_factory=set)
    """Directories with files that have other names too, through which they may be changed."""
    _racy: set[str] = field(default_factory=set)
    """Directories with something that had just changed when it was looked at."""

    def look(self) -> list[PathChange]:
        """Look again; what has changed since the last time. Raises OSError."""
        if self.watch is not None:
            self.watch.take()
            doubtful = self._shared or self._racy or self.unlisted or not self._listings
            if not doubtful and self.watch.vouches_for_all(self._listings):
                return []
        started = time.time_ns()
        scan = self._scan()
        if self.watch is not None and any(map(has_names, scan.found.values())):
            self.watch.restart()  # nobody tells where the other names are
            scan = self._scan()
        self.content.choose(scan.found, self.seen, is_first=self.is_empty)
        return self._compare(scan, started)

    def put(self, path: str, state: PathState) -> None:
        """What is at a path is known better now."""
        status = lstat(path)
        if status is not None and path in self.seen:
            self._note(path, ManifestEntry(stamp_of(status), state))

    def fill(self, seen: dict[str, ManifestEntry], unlisted: set[str]) -> None:
        """Know what an earlier program saw."""
        self.seen, self.unlisted, self.is_empty = seen, unlisted, not seen
        for path, each in seen.items():
            if each.state.kind == "directory" and path not in unlisted:
                self._listings[path] = Listing({}, [])
            elif each.state.kind == "file" and each.stamp and each.stamp[3] > 1:
                self._shared.add(path.rpartition("/")[0])
        for path, each in seen.items():
            parent, _, name = path.rpartition("/")
            if (listing := self._listings.get(parent)) is not None:
                listing.names[name] = each.stamp[:2] if each.stamp else None
                if each.state.kind == "directory":
                    listing.below.append(path)

    def _note(self, path: str, seen: ManifestEntry) -> None:
        self.seen[path] = seen
        self.fresh.add(path)
        parent, _, name = path.rpartition("/")
        if parent in self._listings:
            self._listings[parent].names[name] = seen.stamp[:2] if seen.stamp else None
            if seen.stamp is None:
                self._racy.add(parent)

    # ── looking ──────────────────────────────────────────────────────────────────────────────────

    def _scan(self) -> _Scan:
        scan, waiting, shallow = _Scan(), list[str](), set[str]()
        for top in self.tops:
            status = lstat(top.path)
            if status is None:
                continue
            before = self.seen.get(top.path)
            if before is None or before.stamp != stamp_of(status):
                scan.found[top.path] = status
            if stat.S_ISDIR(status.st_mode) and (self.skipped or self._lists(top.path)):
                waiting.append(top.path)
                if not top.is_deep:
                    shallow.add(top.path)
        while waiting:
            waiting += self._list(scan, waiting.pop(), shallow)
            if scan.count > MAX_ENTRIES:
                raise TooManyFiles(self.tops[0].path)
        prefixes = tuple(each.rstrip("/") + "/" for each in scan.unlisted)
        for directory, listing in self._listings.items():
            if prefixes and f"{directory}/".startswith(prefixes):
                scan.listings[directory] = listing  # not seen now: as far as is known, there
        return scan

    def _list(self, scan: _Scan, directory: str, shallow: set[str]) -> list[str]:
        """List a directory; the directories in it that are to be listed too."""
        known = self._listings.get(directory)
        if self.watch is not None:
            if known is not None and self._is_vouched_for(directory, scan):
                return scan.keep(directory, known)
            self.watch.add(directory)
        try:
            if known is not None and _names(directory) == known.names:
                return scan.keep(directory, known)
            with os.scandir(directory) as entries:
                inside = list(entries)
        except FileNotFoundError:
            return []
        except OSError:
            scan.unlisted.add(directory)
            return []
        listing = scan.listings[directory] = Listing({}, [])
        self._shared.discard(directory)
        self._racy.discard(directory)
        for entry in inside:
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            path, name = entry.path, entry.name
            before = self.seen.get(path)
            if stat.S_ISDIR(status.st_mode):
                if name == ASIDE or path == self.skipped:
                    continue
                if self._lists(path) and (
                    directory not in shallow or not (self.is_empty or before)
                ):
                    listing.below.append(path)
                self._follow(scan, directory, path, status)
            elif status.st_nlink > 1:
                self._shared.add(directory)
            stamp = status.st_ctime_ns, status.st_ino, status.st_size, status.st_nlink
            listing.names[name] = stamp[:2]
            if before is None or before.stamp != stamp:
                scan.found[path] = status
        scan.count += len(inside)
        return listing.below

    def _follow(self, scan: _Scan, above: str, directory: str, status: os.stat_result) -> None:
        """Note whether a directory is another one now; where nobody looks into it, watch it."""
        before = self.seen.get(directory)
        if above in scan.exchanged or before is None or before.state.ino != status.st_ino:
            scan.exchanged.add(directory)
        if self.watch is not None and not self._lists(directory):
            self.watch.add(directory)

    def _is_vouched_for(self, directory: str, scan: _Scan) -> bool:
        """Whether a directory is the one it was, and nothing in it can have changed."""
        return (
            self.watch is not None
            and self.watch.vouches(directory)
            and directory not in scan.exchanged
            and directory not in self._shared
            and directory not in self._racy
            and directory not in self.unlisted
        )

    def _lists(self, directory: str) -> bool:
        """Whether a directory is looked into: what was no repository's own one stays none."""
        return directory in self._listings or not is_repository(directory)

    # ── comparing ────────────────────────────────────────────────────────────────────────────────

    def _compare(self, scan: _Scan, started: int) -> list[PathChange]:
        changes: list[PathChange] = []
        now, made = dict[str, ManifestEntry](), set[str]()
        for path in scan.found if self.is_empty else sorted(scan.found):
            status = scan.found[path]
            state = self.content.state(path, status)
            if self.watch is not None and len(now) % _DRAIN_EVERY == 0:
                self.watch.drain()  # reading files makes the kernel tell us
            if state.kind == "absent":
                continue
            if state.kind == "repository" and path in scan.listings:
                state = state._replace(kind="directory", mtime_ns=status.st_mtime_ns)
            is_racy = status.st_ctime_ns > started - _RACY_NS
            now[path] = ManifestEntry(None if is_racy else stamp_of(status), state)
            before = self.seen.get(path)
            if before is not None:
                if not before.state.is_equal(state):
                    changes.append(PathChange(path, before.state, state))
            elif not self.is_empty and self._was_absent(path, made):
                changes.append(PathChange(path, ABSENT, state))
                if state.kind == "directory":
                    made.add(path)
        gone = self._gone(scan) | (scan.found.keys() - now.keys())
        for path in gone:
            if path in self.seen and (was := self.seen[path].state).exists:
                changes.append(PathChange(path, was, ABSENT))
        self._take(scan, now, gone)
        return changes

    def _gone(self, scan: _Scan) -> set[str]:
        """What was seen and is not there any more."""
        gone = set[str]()
        for directory, known in self._listings.items():
            listing = scan.listings.get(directory)
            if listing is known or directory in scan.unlisted:
                continue
            left = listing.names if listing else ()
            base = directory.rstrip("/")
            gone.update(f"{base}/{name}" for name in known.names if name not in left)
        gone.update(
            top.path for top in self.tops if top.path in self.seen and lstat(top.path) is None
        )
        return gone

    def _take(self, scan: _Scan, now: dict[str, ManifestEntry], gone: set[str]) -> None:
        """What was found is what is known."""
        for directory in scan.unlisted & self._listings.keys():
            scan.listings[directory] = self._listings[directory]
        self._listings = scan.listings
        self._shared &= scan.listings.keys()
        self._racy &= scan.listings.keys()
        self.unlisted = scan.unlisted
        for path in gone:
            if self.seen.pop(path, None) is not None:
                self.fresh.add(path)
        self.seen.update(now)
        self.fresh.update(now)
        for path, seen in now.items():
            if seen.stamp is None:  # the listing must not be taken for the whole truth
                self._note(path, seen)
        for top in self.tops:
            if top.path not in self.seen:
                self.seen[top.path] = ManifestEntry(None, ABSENT)  # seen not to be there
        self.is_empty = False

    def _was_absent(self, path: str, made: set[str]) -> bool:
        """Whether this name was surely not there at the last look."""
        parent = path.rpartition("/")[0] or "/"
        if parent in made:
            return True
        if parent in self._listings:
            return parent not in self.unlisted
        above = self.seen.get(parent)
        return above is not None and above.state.kind not in ("directory", "repository")


def stamp_of(status: os.stat_result) -> Stamp:
    """By which it is seen whether something was changed."""
    return status.st_ctime_ns, status.st_ino, status.st_size, status.st_nlink


def _names(directory: str) -> dict[str, tuple[int, int] | None] | None:
    """The names in a directory as a listing has them; None if one goes while they are read."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with os.scandir(descriptor) as entries:
            return {
                entry.name: ((status := entry.stat(follow_symlinks=False)).st_ctime_ns, status[1])
                for entry in entries
            }
    except FileNotFoundError:
        return None
    finally:
        os.close(descriptor)
