"""Decides of which files the bytes are kept before anybody changes them.

Whether a file is there is never decided here: that is seen by listing directories. What git has, or
what it ignores, only tells which bytes need not, or cannot, be copied.
"""

# ruff: noqa: PTH118

import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

from agent_cli.core.undo.checkpoint import PathState
from agent_cli.lib.language import tr, trn
from agent_cli.storage.checkpoint.blobs import Blobs, allocated_bytes
from agent_cli.storage.checkpoint.git import HALF, GitDirectory, IndexEntry
from agent_cli.storage.checkpoint.states import bare, file_state, keep, too_large

BULKY = frozenset({"node_modules", ".venv", "venv", ".tox", ".nox", "__pycache__", "target"})
"""Directories that are made by programs, where there is no git to tell by ignoring them."""
MAX_BULK_FILES = 1_000
MAX_BULK_BYTES = 20_000_000
"""More than either, below a directory that git ignores, is not copied."""
MAX_NEW_FILES = 30_000
"""That are copied at one look."""
_MANY = 1_000


@dataclass
class Contents:
    """The bytes of the files in a workspace."""

    blobs: Blobs
    gits: Sequence[GitDirectory]
    budget: int
    """Bytes that are copied at one look."""
    notes: list[str] = field(default_factory=list)
    """What is not kept, in words."""
    _bulk: dict[str, str] = field(default_factory=dict)
    """Directories whose files are not copied, and why."""
    _within: dict[str, str] = field(default_factory=dict)
    """For each directory that was asked about: the one in `_bulk` it lies in, or nothing."""
    _trusted: dict[str, IndexEntry] = field(default_factory=dict)
    _ignoring: list[tuple[object, ...]] = field(default_factory=list)
    _files_left: int = 0
    _bytes_left: int = 0
    _max_bytes: int = 0
    """Of one file: where there is too much, the largest are left out."""

    def choose(
        self, found: dict[str, os.stat_result], known: Iterable[str], *, is_first: bool
    ) -> None:
        """Get ready to look at these files, which are new or different."""
        self._files_left, self._bytes_left, self._trusted = MAX_NEW_FILES, self.budget, {}
        if len(found) >= _MANY or is_first:
            for git in self.gits:
                listing = git.start_ignored()
                self._trust_index(git, (found, known))
                ignored = {os.path.join(git.root, name) for name in git.ignored(listing)}
                self._weigh(ignored, found, known if not is_first else ())
        total = sum(
            allocated_bytes(found[path])
            for path in found.keys() - self._trusted.keys()
            if stat.S_ISREG(found[path].st_mode) and not self._bulk_of(path.rpartition("/")[0])
        )
        self._max_bytes = self.budget if total <= self.budget else self.budget // 40

    def state(self, path: str, status: os.stat_result) -> PathState:
        """What is at a path, with its bytes kept where they should be."""
        if not stat.S_ISREG(status.st_mode):
            return bare(path, status)
        entry = self._trusted.get(path)
        if entry is not None:
            changed, part, _, _, ino, _, size, oid, _ = entry
            if (
                status.st_ctime_ns == changed * 1_000_000_000 + part
                and status.st_ino & HALF == ino
                and status.st_size & HALF == size
            ):
                return file_state(status, oid.hex())
        else:
            if (bulk := self._bulk_of(path.rpartition("/")[0])) and status.st_size:
                return bare(path, status, self._bulk[bulk])
            if why := self._over_budget(path, status):
                return bare(path, status, why)
        state = keep(self.blobs, path, status, entry[7].hex() if entry else None)
        if state.why == too_large():
            self._note_unless_named(path, state.why)
        elif state.why:
            self._note(tr("{path} is not kept for undo: {why}.", path=path, why=state.why))
        return state

    def release(self, *, changed: bool) -> tuple[str, ...]:
        """Forget what git does not ignore any more; the places whose files are copied now.

        Without any change in the tree, only git's own settings can tell it so.
        """
        before, self._ignoring = self._ignoring, [git.ignoring() for git in self.gits]
        if not self._bulk or (not changed and self._ignoring == before):
            return ()
        kept = set[str]().union(*(git.still_ignored(self._bulk) for git in self.gits))
        gone = self._bulk.keys() - kept
        self._bulk = {path: why for path, why in self._bulk.items() if path in kept}
        self._within.clear()
        return tuple(f"{path}/" for path in gone)

    def _over_budget(self, path: str, status: os.stat_result) -> str:
        """Why this file is not copied, where there is too much to copy; empty: it is."""
        size = allocated_bytes(status)
        self._files_left -= 1
        self._bytes_left -= size
        if self._files_left < 0:
            why = tr("there are too many files that are not in git")
            self._note(tr("Only {n:,} files are kept for undo: {why}.", n=MAX_NEW_FILES, why=why))
        elif self._bytes_left < 0 or size > self._max_bytes:
            self._bytes_left += size
            why = tr("there is too much to copy")
            self._note_unless_named(path, why)
        else:
            return ""
        return why

    def _note_unless_named(self, path: str, why: str) -> None:
        self._note(
            tr(
                "{path} is not kept for undo, except from commands that name it: {why}.",
                path=path,
                why=why,
            )
        )

    def _note(self, text: str) -> None:
        if text not in self.notes and len(self.notes) < 20:
            self.notes.append(text)

    def _trust_index(self, git: GitDirectory, paths: Iterable[Iterable[str]]) -> None:
        """What git has byte by byte need not be read."""
        entries = git.index()
        if entries and git.converts(chain(*paths)):  # so that none fits: bytes are compared
            entries = {path: (0, 0, 0, 0, -1, *entry[5:]) for path, entry in entries.items()}
        self._trusted |= entries

    def _bulk_of(self, directory: str) -> str:
        """The directory that is not copied and holds this one; empty: there is none."""
        known = self._within.get(directory)
        if known is None:
            parent = directory.rpartition("/")[0]
            known = (
                directory if directory in self._bulk else self._bulk_of(parent) if parent else ""
            )
            self._within[directory] = known
        return known

    def _weigh(
        self, ignored: set[str], found: dict[str, os.stat_result], known: Iterable[str]
    ) -> None:
        """Find out which of the ignored directories hold too much to be copied."""
        bulky = frozenset[str]() if any(git.directory for git in self.gits) else BULKY
        places: dict[str, str] = {"": ""}

        def place(directory: str) -> str:
            inside = places.get(directory)
            if inside is None:
                parent, _, name = directory.rpartition("/")
                is_bulky = directory in ignored or name in bulky
                inside = places[directory] = place(parent) or (directory if is_bulky else "")
            return inside

        files: dict[str, int] = {}
        size: dict[str, int] = {}
        for path in found.keys() - self._trusted.keys():
            status = found[path]
            if stat.S_ISREG(status.st_mode):
                inside = place(path.rpartition("/")[0])
                if inside:
                    files[inside] = files.get(inside, 0) + 1
                    size[inside] = size.get(inside, 0) + allocated_bytes(status)
        for path in known:
            if inside := place(path.rpartition("/")[0]):
                files[inside] = files.get(inside, 0) + 1
        for directory, count in files.items():
            too_much = count > MAX_BULK_FILES or size.get(directory, 0) > MAX_BULK_BYTES
            if too_much and directory not in self._bulk:
                self._bulk[directory] = tr("ignored, and too much to copy")
                self._within.clear()
                self._note(
                    trn(
                        "{path} ({n:,} file) is not kept for undo, except from commands that name "
                        "it.",
                        "{path} ({n:,} files) is not kept for undo, except from commands that "
                        "name it.",
                        count,
                        path=directory,
                    )
                )
