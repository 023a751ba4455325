"""Copies of what a command is known to strike, ignored files and places outside included."""

import itertools
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from agent_cli.core.undo.checkpoint import ABSENT, PathChange, PathState, UpcomingCall
from agent_cli.lib.language import tr, trn
from agent_cli.storage.checkpoint.blobs import MAX_BYTES, NO_ROOM, Blobs, NoRoom
from agent_cli.storage.checkpoint.path_states import keep, stat_only

MAX_FILES = 100_000


@dataclass
class Rescue:
    """What was there before one call, by path."""

    states: dict[str, PathState] = field(default_factory=dict)
    stamps: dict[str, tuple[int, int]] = field(default_factory=dict)
    struck: tuple[str, ...] = ()
    """The places themselves."""
    is_whole: bool = True
    entered: dict[str, frozenset[str]] = field(default_factory=dict)
    """Directories into which something is put, and what was in them."""

    def list_lost(self) -> tuple[str, ...]:
        """What is there and could not be kept, in words."""
        missing = [(path, state) for path, state in self.states.items() if not state.is_kept]
        reasons = {state.why: 0 for _, state in missing if state.why}
        for _, state in missing:
            if state.why:
                reasons[state.why] += 1
        words = [
            trn("{n:,} file: {why}", "{n:,} files: {why}", count, why=why)
            for why, count in reasons.items()
        ]
        if not self.is_whole:
            words.append(tr("there are more than {most:,} files", most=MAX_FILES))
        return tuple(words)

    def changes(self, blobs: Blobs) -> Iterator[PathChange]:
        """What became of it; what is new in the places is told as well."""
        for path, before in self.states.items():
            now = _stamp(path)
            if now is not None and now == self.stamps.get(path):
                continue
            after = (
                _now(blobs, path) if before.content or before.kind != "file" else stat_only(path)
            )
            yield PathChange(path, before, after)
        if self.is_whole:
            for path in _below(self.struck):
                if path not in self.states:
                    yield PathChange(path, ABSENT, _now(blobs, path))
        for directory, names in self.entered.items():
            new = [f"{directory}/{name}" for name in _names(directory) - names]
            for path in _below(new):
                if path not in self.states:
                    yield PathChange(path, ABSENT, _now(blobs, path))


def rescue(call: UpcomingCall, blobs: Blobs, is_kept: Callable[[str], bool]) -> Rescue:
    """Keep what the call strikes, but for what is kept already."""
    found = Rescue(struck=tuple(dict.fromkeys((*call.deletes, *call.strikes, *call.touches))))
    for paths, how in (
        (call.deletes, _linked_or_copied),
        (call.strikes, _copy),
        (call.touches, _only_looked_at),
    ):
        for path in _below(paths):
            if path in found.states or is_kept(path):
                continue
            if len(found.states) >= MAX_FILES:
                found.is_whole = False
                return found
            state = how(blobs, path)
            stamp = _stamp(path)  # after it: a second link changes the file's time
            if state.exists and stamp is not None:
                found.states[path], found.stamps[path] = state, stamp
    for path in call.writes:
        status = _lstat(path)
        if status is not None and stat.S_ISDIR(status.st_mode):
            found.entered[path] = _names(path)
            continue
        if path in found.states or is_kept(path):
            continue
        found.states[path] = _copy(blobs, path)
        stamp = _stamp(path)
        if stamp is not None:
            found.stamps[path] = stamp
    return found


def weight(call: UpcomingCall, is_kept: Callable[[str], bool]) -> int:
    """How many bytes `rescue` would keep."""
    total = 0
    for path in itertools.islice(_below((*call.deletes, *call.strikes)), MAX_FILES):
        found = _lstat(path)
        if found is not None and stat.S_ISREG(found.st_mode) and found.st_size <= MAX_BYTES:
            total += 0 if is_kept(path) else found.st_size
    return total


def _linked_or_copied(blobs: Blobs, path: str) -> PathState:
    """A file that is deleted lives on under a second name, unless it has others already."""
    found = _lstat(path)
    if found is None:
        return ABSENT
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1 or found.st_size > MAX_BYTES:
        return keep(blobs, path, found)
    try:
        name = blobs.add_link(path, found.st_size)
    except NoRoom:
        return _unkept(found, tr(NO_ROOM))
    if name is None:
        return keep(blobs, path, found)
    mode = stat.S_IMODE(found.st_mode)
    return PathState("file", mode, found.st_mtime_ns, found.st_size, name)


def _copy(blobs: Blobs, path: str) -> PathState:
    found = _lstat(path)
    return ABSENT if found is None else keep(blobs, path, found)


def _only_looked_at(blobs: Blobs, path: str) -> PathState:
    return stat_only(path)


def _now(blobs: Blobs, path: str) -> PathState:
    return _copy(blobs, path)


def _unkept(found: os.stat_result, why: str) -> PathState:
    mode = stat.S_IMODE(found.st_mode)
    return PathState("file", mode, found.st_mtime_ns, found.st_size, why=why)


def _below(paths: Iterable[str]) -> Iterator[str]:
    """The places and everything in them; links are not followed."""
    waiting = list(reversed(list(paths)))
    while waiting:
        path = waiting.pop()
        found = _lstat(path)
        if found is None:
            continue
        yield path
        if stat.S_ISDIR(found.st_mode):
            try:
                with os.scandir(path) as entries:
                    waiting += [entry.path for entry in entries]
            except OSError:
                continue


def _names(directory: str) -> frozenset[str]:
    try:
        with os.scandir(directory) as entries:
            return frozenset(entry.name for entry in entries)
    except OSError:
        return frozenset()


def _lstat(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _stamp(path: str) -> tuple[int, int] | None:
    found = _lstat(path)
    return None if found is None else (found.st_ctime_ns, found.st_ino)
