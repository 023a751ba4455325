"""Checkpoints of a session on disk: what calls changed, and what was there before."""

import contextlib
import functools
import os
import shutil
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from agent_cli.core.undo.checkpoint import (
    ABSENT,
    CheckpointOutcome,
    PathChange,
    PathState,
    Record,
    RecordKind,
    RestoreOutcome,
    RestoreStep,
    UpcomingCall,
)
from agent_cli.lib.files import private_directory, remove_leftovers
from agent_cli.lib.language import tr
from agent_cli.storage.checkpoint import quota
from agent_cli.storage.checkpoint.aside import Aside
from agent_cli.storage.checkpoint.blobs import Blobs
from agent_cli.storage.checkpoint.manifest import Manifest, stamp_of
from agent_cli.storage.checkpoint.others import overlapping, read_record, sessions_beside, settle
from agent_cli.storage.checkpoint.protect import Protection, protect
from agent_cli.storage.checkpoint.quota import hold
from agent_cli.storage.checkpoint.records import RecordFiles
from agent_cli.storage.checkpoint.room import ROOMY, Room
from agent_cli.storage.checkpoint.states import (
    has_names,
    is_direct,
    keep,
    look,
    lstat,
    made_on_the_way,
)
from agent_cli.storage.checkpoint.undo_journal import Journal
from agent_cli.storage.checkpoint.workspace import Named, Workspace

F = TypeVar("F", bound=Callable[..., Any])

QUOTA_BYTES = 1_000_000_000
KEEP_DAYS = 30.0
_AT_ONCE = 0.4
"""The share of the quota that is copied at one look."""


def _alone(method: F) -> F:
    """One at a time: the pipeline's threads and a frontend's must not meet in the store."""

    @functools.wraps(method)
    def run(self: "CheckpointStore", *args: Any, **named: Any) -> Any:
        with self._lock:
            return method(self, *args, **named)

    return cast(F, run)


@dataclass
class _Pending:
    """A call that is under way."""

    record: Record
    """Its time is when the call began to run."""
    since: float
    """When the look before it began."""
    known: dict[str, PathState] = field(default_factory=dict)
    """Of a call whose paths are known: what was there."""
    outside: Manifest = field(default_factory=lambda: Manifest((), Named()))
    protection: Protection = field(default_factory=Protection)
    changes: dict[str, PathChange] = field(default_factory=dict)
    """What was seen to change in the workspace since it began, by path."""

    def add(self, changes: Iterable[PathChange]) -> None:
        """Note changes; several of one path become one."""
        for each in changes:
            first = self.changes.get(each.path)
            self.changes[each.path] = replace(each, before=first.before) if first else each


@dataclass
class _SessionFiles:
    """What is on the disk for this session."""

    blobs: Blobs
    records: RecordFiles
    aside: Aside
    workspace: Workspace
    journal: Journal
    room: Room


class CheckpointStore:
    """Keeps the checkpoints of one session. Nothing is made on disk before the first call."""

    def __init__(
        self,
        directory: Path,
        session_id: str,
        *,
        roots: Sequence[str],
        home: str,
        environment: Mapping[str, str],
        quota: int = QUOTA_BYTES,
        days: float = KEEP_DAYS,
    ) -> None:
        self._directory = directory
        self._session_id = session_id
        self._roots = tuple(dict.fromkeys(map(os.path.realpath, roots)))
        self._home = os.path.realpath(home)
        self._environment = environment
        self._quota = quota
        self._days = days
        self._pending: dict[str, _Pending] = {}
        self._lock = threading.RLock()
        self._opened: _SessionFiles | None = None
        self._hold: int | None = None
        if self._own.is_dir():  # an earlier run's: nobody may remove it before it is needed
            with contextlib.suppress(OSError):
                self._hold = hold(self._own)

    @property
    def room(self) -> int:
        """How many bytes can be kept before one call: of the quota, and of the disk."""
        there = next(each for each in (self._own, *self._own.parents) if each.exists())
        return min(int(self._quota * ROOMY), shutil.disk_usage(there).free)

    @_alone
    def before(self, call: UpcomingCall) -> CheckpointOutcome:
        """Keep what is needed to undo the call; raises OSError."""
        opened = self._open()
        self._make_room()
        record = Record(
            number=opened.records.new_number(),
            kind="call",
            turn=call.turn,
            call_id=call.call_id,
            tool=call.tool,
            title=call.title,
            time=time.time(),
            by="tools" if call.paths is not None else "shell",
            is_open=True,
            targets=call.paths if call.paths is not None else call.targets,
        )
        pending = _Pending(record, record.time)
        if call.paths is not None:
            made = made_on_the_way(call.paths)
            pending.known = {**made, **{path: self._keep(path) for path in call.paths}}
            known, lost = pending.known, _list_lost(pending.known)
        else:
            self._look()
            pending.outside = opened.workspace.outside(call)
            pending.outside.look()
            pending.protection = protect(
                call, opened.workspace, pending.outside, opened.blobs, opened.aside,
                room=int(self._quota * ROOMY), make_room=self._make_room,
                prefix=f"{record.number}-link",
            )  # fmt: skip
            lost = pending.protection.lost
            outside = {path: seen.state for path, seen in pending.outside.seen.items()}
            known = {**outside, **pending.protection.links}
        notes = self.take_notes()
        changes = tuple(PathChange(path, state, state) for path, state in known.items())
        pending.record = replace(record, time=time.time(), changes=changes, notes=(*lost, *notes))
        opened.records.put(pending.record)
        self._pending[call.call_id] = pending
        return CheckpointOutcome(lost, notes)

    @_alone
    def after(self, call_id: str) -> Record | None:
        """Find out what the call changed; raises OSError."""
        pending = self._pending.get(call_id)
        if pending is None:
            return None
        opened, since, ended = self._open(), pending.since, time.time()
        try:
            changes = self._changes(pending)
        finally:
            del self._pending[call_id]
        if pending.record.by == "shell":
            others = overlapping(self._directory, self._session_id, since, time.time())
            siblings = [each for each in opened.records if each.ended >= since]
            siblings += [each.record for each in self._pending.values()]
            changes = settle(changes, pending.record, others, siblings)
        if not changes:
            opened.records.drop(pending.record.number)
            return None
        record = replace(pending.record, changes=changes, is_open=False, ended=ended)
        opened.records.put(record)
        return record

    @_alone
    def records(self) -> Sequence[Record]:
        """All that changed something, oldest first."""
        if self._opened is None and not self._own.exists():
            return ()
        pending = {each.record.number for each in self._pending.values()}
        return tuple(each for each in self._open().records if each.number not in pending)

    @_alone
    def now(self, paths: Collection[str]) -> dict[str, PathState]:
        """What is there now, its bytes kept for a merge."""
        manifest = self._open().workspace.manifest
        direct = functools.lru_cache(maxsize=None)(is_direct)
        found = {}
        for path in paths:
            if not direct(path.rpartition("/")[0] + "/x"):
                found[path] = ABSENT
                continue
            status, seen = lstat(path), manifest.seen.get(path)
            stamp = status and stamp_of(status)
            is_known = seen is not None and seen.stamp is not None and seen.stamp == stamp
            found[path] = seen.state if seen and is_known else self._keep(path)
        return found

    @_alone
    def finds(self, state: PathState) -> bool:
        """Whether this could be put back."""
        opened = self._open()
        if state.kind == "file" and state.content in opened.blobs:
            return True
        if state.kind == "repository" and state.content:
            return os.path.isdir(opened.aside.tree(state.content))  # noqa: PTH112
        if state.kind not in ("file", "repository") and state._replace(aside="").is_kept:
            return True
        return opened.aside.is_there(state) or opened.journal.locator()(state) is not None

    @_alone
    def read(self, state: PathState) -> bytes | None:
        """The bytes of a file as they were."""
        if state.kind != "file" or not state.content:
            return None
        opened = self._open()
        data = opened.blobs.read(state.content)
        if data is None:
            data = opened.workspace.read([state.content]).get(state.content)
        return data

    @_alone
    def write(self, data: bytes, like: PathState) -> PathState:
        """A state with these bytes."""
        name = self._open().blobs.add(data)
        return PathState("file", like.mode, 0, len(data), name)

    @_alone
    def merge(self, base: bytes, mine: bytes, other: bytes) -> tuple[bytes, bool] | None:
        """Both changes in one text."""
        return self._open().workspace.merge(base, mine, other)

    @_alone
    def restore(
        self, plan: Sequence[RestoreStep], *, kind: RecordKind, of: Sequence[Record], turn: int
    ) -> RestoreOutcome:
        """Carry out an undo, which becomes a record itself; raises OSError."""
        opened = self._open()
        opened.room.measure_again()
        return opened.journal.restore(plan, kind, of, turn)

    @_alone
    def take_notes(self) -> tuple[str, ...]:
        """What should be known and was not told yet."""
        return self._opened.workspace.take_notes() if self._opened else ()

    @_alone
    def close(self) -> None:
        """Let go of what is held; what was kept stays for a later session."""
        if self._opened is not None:
            self._opened.workspace.close()
            self._opened.blobs.close()
            self._opened = None
        if self._hold is not None:
            os.close(self._hold)
            self._hold = None

    @property
    def _own(self) -> Path:
        return self._directory / self._session_id

    def _open(self) -> _SessionFiles:
        if self._opened is not None:
            return self._opened
        private_directory(self._directory)
        own = self._own
        if self._hold is None:
            self._hold = hold(own)
        blobs, records, aside = Blobs(own / "blobs"), RecordFiles(own / "records"), Aside(own)
        budget = int(self._quota * _AT_ONCE)
        workspace = Workspace(self._roots, self._home, self._environment, own, blobs, budget)
        journal = Journal(blobs, records, aside, workspace.roots)
        room = Room(own, blobs, records, aside, workspace, self._quota, self._days)
        self._opened = _SessionFiles(blobs, records, aside, workspace, journal, room)
        for record in records:
            if record.is_open and record.kind == "call":
                self._recover(record)
            elif record.is_open:
                workspace.note(journal.recover(record))
        self._note_others()
        return self._opened

    def _note_others(self) -> None:
        """Say where another session was cut short in the middle of an undo."""
        for session in sessions_beside(self._directory, self._session_id):
            last = max((session / "records").glob("*.json"), default=None)
            record = read_record(last) if last else None
            if record is None or record.kind == "call" or not record.is_open:
                continue
            ours = any(each.path.startswith(self._roots) for each in record.changes)
            if ours and not quota.is_in_use(session):
                text = tr(
                    "An undo of session {id} was cut short here. Resume that session to see what "
                    "it restored; what it moved is in {path}.",
                    id=session.name,
                    path=session / "aside",
                )
                self._open().workspace.note(text)

    def _recover(self, record: Record) -> None:
        """Find out what a call that a crash cut short has changed, as far as can be told.

        What somebody else changed since then cannot be told apart, so the record stays open.
        """
        opened = self._open()
        known = {each.path: each.before for each in record.changes}
        if record.by == "tools":
            for path in known:
                remove_leftovers(path)
        pending = _Pending(record, record.time, known)
        if record.by == "shell":
            pending.protection.links = {p: s for p, s in known.items() if s.aside}
            self._pending[record.call_id] = pending
        try:
            with contextlib.suppress(OSError):
                changes = self._changes(pending)
                if changes:
                    opened.records.put(replace(record, changes=tuple(changes)))
                else:
                    opened.records.drop(record.number)
        finally:
            self._pending.pop(record.call_id, None)

    def _keep(self, path: str) -> PathState:
        """What is at a path now, its bytes kept; if they cannot be, named nevertheless."""
        status = lstat(path)
        if status is None:
            return ABSENT
        state = keep(self._open().blobs, path, status)
        return look(path)._replace(why=state.why) if state.kind == "file" and state.why else state

    def _make_room(self, needed: int = 0) -> None:
        links = (each.protection.links for each in self._pending.values())
        self._open().room.make([s for each in links for s in each.values()], needed)

    def _look(self) -> None:
        """Look at the workspace; what changed is told to every call that is under way."""
        changes = self._open().workspace.look()
        for pending in self._pending.values():
            pending.add(changes)

    def _changes(self, pending: _Pending) -> tuple[PathChange, ...]:
        opened, found = self._open(), dict[str, PathChange]()
        for path, before in pending.known.items():
            found[path] = PathChange(path, before, self._keep(path))
        if pending.record.by == "shell":
            outside = pending.outside.look()
            if any(has_names(lstat(each.path)) for each in outside):
                opened.workspace.distrust()  # the other name may be inside
            self._look()
            found |= pending.changes
            found |= {each.path: self._with_bytes(each) for each in outside}
        changed = [each for each in found.values() if not each.before.is_equal(each.after)]
        settled = pending.protection.settle(changed)
        return tuple(opened.workspace.with_bytes(settled))

    def _with_bytes(self, change: PathChange) -> PathChange:
        """A change outside, with what is there now kept."""
        if change.after.kind != "file":
            return change
        return replace(change, after=self._keep(change.path))


def _list_lost(states: Mapping[str, PathState]) -> tuple[str, ...]:
    return tuple(f"{path}: {state.why}" for path, state in states.items() if state.why)
