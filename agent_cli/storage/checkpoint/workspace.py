"""The directories a session works in, looked at before and after each command."""

import gc
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agent_cli.core.undo.checkpoint import PathChange, PathState, UpcomingCall
from agent_cli.lib.language import tr
from agent_cli.safety.paths import contains
from agent_cli.storage.checkpoint.blobs import Blobs
from agent_cli.storage.checkpoint.contents import Contents
from agent_cli.storage.checkpoint.git import GitDirectory
from agent_cli.storage.checkpoint.manifest import Manifest, TooManyFiles, Top
from agent_cli.storage.checkpoint.manifest_log import ManifestLog
from agent_cli.storage.checkpoint.states import bare, lstat
from agent_cli.storage.checkpoint.watch import Watch

WATCHED_FILES = 10_000
"""From so many on the kernel is asked where something changed; of fewer, each is looked at."""


class Named:
    """Content of places outside: nothing is kept but what a call is known to change."""

    def choose(
        self, found: dict[str, os.stat_result], known: Iterable[str], *, is_first: bool
    ) -> None:
        """There is no choice."""

    def state(self, path: str, status: os.stat_result) -> PathState:
        """What is there, without its bytes."""
        return bare(path, status, tr("it was not kept"))


class Workspace:
    """All directories of a session as they were seen last."""

    def __init__(
        self,
        roots: Sequence[str],
        home: str,
        environment: Mapping[str, str],
        own: Path,
        blobs: Blobs,
        budget: int,
    ) -> None:
        self._environment, self._own, self._blobs = environment, own, blobs
        self._told: set[str] = set()
        self._notes: list[str] = []
        self.roots = tuple(root for root in roots if not contains(root, home))
        """Those that are looked at as a whole."""
        for root in roots:
            if root not in self.roots:
                self._leave_out(root, tr("it holds your home directory"))
        self._gits = [self._git(root) for root in self.roots]
        self.contents = Contents(blobs, self._gits, budget)
        self.manifest = Manifest(tuple(map(Top, self.roots)), self.contents, str(own.parent))
        self._log = ManifestLog(own / "manifest", self.manifest)
        self._log.load()

    def look(self) -> list[PathChange]:
        """What has changed since the last look; raises OSError."""
        enabled = gc.isenabled()
        gc.disable()  # so many small objects make it look for garbage again and again
        try:
            return self._look() if self.roots else []
        finally:
            if enabled:
                gc.enable()

    def _look(self) -> list[PathChange]:
        try:
            changes = self.manifest.look()
        except TooManyFiles as error:
            for root in self.roots:
                self._leave_out(root, error.strerror)
            self.roots = ()
            self.manifest = Manifest((), self.contents)
            return []
        if released := self.contents.release(changed=bool(changes)):
            for path, (_, state) in list(self.manifest.seen.items()):
                status = lstat(path) if path.startswith(released) else None
                if status is not None and state.kind == "file" and not state.content:
                    self.manifest.put(path, self.contents.state(path, status))
        if self.manifest.watch is None and len(self.manifest.seen) >= WATCHED_FILES:
            self.manifest.watch = Watch(self.roots)
        self._log.write()
        self._check_git()
        return changes

    def distrust(self) -> None:
        """Look at every name next time."""
        if self.manifest.watch is not None:
            self.manifest.watch.restart()

    def close(self) -> None:
        """Stop watching."""
        if self.manifest.watch is not None:
            self.manifest.watch.close()

    def outside(self, call: UpcomingCall) -> Manifest:
        """The places a call is known to change that are not looked at anyway: outside, and what it
        names inside a repository's own directory."""
        deep = [*call.deletes, *call.strikes, *call.touches]
        tops: dict[str, Top] = {}
        for path in (*deep, *map(os.path.realpath, call.writes)):
            if not any(contains(root, path) for root in self.roots) or self._is_in_git(path):
                first = _first_missing(path)
                tops[first] = Top(first, is_deep=path in deep or first != path)
        return Manifest(tuple(tops.values()), Named())

    def with_bytes(self, changes: Iterable[PathChange]) -> list[PathChange]:
        """The changes, with what was there before fetched from git while git still has it."""
        listed = list(changes)
        wanted = [each.before.content for each in listed if self.is_in_git(each.before)]
        kept, why = {}, tr("git does not have it any more")
        for name, data in self.read(wanted).items():
            try:
                kept[name] = self._blobs.add(data)
            except OSError as error:
                why = error.strerror or str(error)
        return [
            replace(each, before=each.before._replace(content="", why=why))
            if self.is_in_git(each.before)
            else each
            for each in listed
        ]

    def keep_what_git_has(self, *, is_going: bool = True) -> None:
        """Keep the bytes that only git keeps: its repository is going, or may let go of them."""
        for path, seen in list(self.manifest.seen.items()):
            if self.is_in_git(seen.state):
                self._keep_again(path, seen.state, is_going=is_going)

    def is_own_repository(self, path: str) -> bool:
        """Whether this is where git keeps the bytes of our files."""
        return any(git.directory == path for git in self._gits)

    def is_in_git(self, state: PathState) -> bool:
        """Whether nobody but git has the bytes of a file."""
        return state.kind == "file" and bool(state.content) and state.content not in self._blobs

    def read(self, names: Iterable[str]) -> dict[str, bytes]:
        """Bytes that git keeps."""
        wanted, found = list(names), dict[str, bytes]()
        for git in self._gits:
            found.update(git.read(name for name in wanted if name not in found))
        return found

    def merge(self, base: bytes, mine: bytes, other: bytes) -> tuple[bytes, bool] | None:
        """Both changes in one text."""
        git = self._gits[0] if self._gits else self._git("/")
        return git.merge(base, mine, other)

    def needed(self) -> set[str]:
        """The names of all bytes the manifest speaks of."""
        return {each.state.content for each in self.manifest.seen.values()}

    def note(self, text: str) -> None:
        """Have something told."""
        self._notes.append(text)

    def take_notes(self) -> tuple[str, ...]:
        """What should be known and was not told yet."""
        noted = [*self._notes, *self.contents.notes]
        noted += [
            tr("{path} cannot be listed: what changes there is not seen.", path=path)
            for path in sorted(self.manifest.unlisted)[:5]
        ]
        fresh = [note for note in dict.fromkeys(noted) if note not in self._told]
        self._notes.clear()
        self.contents.notes.clear()
        self._told.update(fresh)
        return tuple(fresh)

    def _is_in_git(self, path: str) -> bool:
        """Whether this is inside a repository's own directory, into which nobody looks."""
        parts = path.split("/")
        above = (self.manifest.seen.get("/".join(parts[:n])) for n in range(2, len(parts)))
        return any(each is not None and each.state.kind == "repository" for each in above)

    def _git(self, root: str) -> GitDirectory:
        return GitDirectory(root, self._environment, self._own / "merging")

    def _leave_out(self, root: str, why: str | None) -> None:
        self._notes.append(
            tr("In {root}, only what commands name can be undone: {why}.", root=root, why=why or "")
        )

    def _check_git(self) -> None:
        """If the repository is another one now, or has let go of objects, keep what it lacks."""
        stirred: tuple[str, ...] = ("",)
        if all(git.is_as_it_was() for git in self._gits):
            stirred = tuple(each for git in self._gits for each in git.take_stirred())
        else:
            self._gits[:] = [self._git(git.root) for git in self._gits]
        if not stirred:
            return
        missing = {
            seen.state.content
            for seen in self.manifest.seen.values()
            if seen.state.content.startswith(stirred) and self.is_in_git(seen.state)
        }
        for git in self._gits:
            missing &= git.lacks(missing)
        for path, seen in list(self.manifest.seen.items()) if missing else ():
            if seen.state.content in missing and self.is_in_git(seen.state):
                self._keep_again(path, seen.state)

    def _keep_again(self, path: str, state: PathState, *, is_going: bool = True) -> None:
        """Copy a file of which git alone had the bytes."""
        try:
            name, _ = self._blobs.add_file(path)
        except OSError as error:
            if is_going:
                why = error.strerror or str(error)
                self.manifest.put(path, state._replace(content="", why=why))
            return
        if name != state.content:
            self.manifest.put(path, state._replace(content=name))


def _first_missing(path: str) -> str:
    """The outermost of a path and its directories that is not there; itself, if all are."""
    while not os.path.lexists(parent := path.rpartition("/")[0] or "/"):
        path = parent
    return path
