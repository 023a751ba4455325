"""Checkpoints of a session on disk: what calls changed, and what was there before."""

import contextlib
import functools
import os
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
from agent_cli.lib.text import size
from agent_cli.storage.checkpoint import quota
from agent_cli.storage.checkpoint.blobs import Blobs, is_unread
from agent_cli.storage.checkpoint.git import GitDirectory, NoGit
from agent_cli.storage.checkpoint.manifest import is_equal
from agent_cli.storage.checkpoint.path_states import is_direct, keep, look
from agent_cli.storage.checkpoint.quota import hold
from agent_cli.storage.checkpoint.records import RecordFiles
from agent_cli.storage.checkpoint.rescue import Rescue, rescue, weight
from agent_cli.storage.checkpoint.restore import Restorer, parents_made
from agent_cli.storage.checkpoint.trees import Trees

F = TypeVar("F", bound=Callable[..., Any])

QUOTA_BYTES = 1_000_000_000
KEEP_DAYS = 30.0
_FULL, _ROOMY = 0.9, 0.7
"""Beyond the one share of the quota the oldest go, until no more than the other is left."""


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
    known: dict[str, PathState] = field(default_factory=dict)
    """Of a call whose paths are known: what was there."""
    rescue: Rescue = field(default_factory=Rescue)


@dataclass
class _SessionFiles:
    """What is on the disk for this session."""

    blobs: Blobs
    records: RecordFiles
    trees: Trees


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
        self._others = 0
        self._pending: dict[str, _Pending] = {}
        self._lock = threading.RLock()
        self._opened: _SessionFiles | None = None
        self._hold: int | None = None
        if self._own.is_dir():  # an earlier run's: nobody may remove it before it is needed
            with contextlib.suppress(OSError):
                self._hold = hold(self._own)

    @property
    def room(self) -> int:
        """How many bytes can be kept before one call."""
        return int(self._quota * _ROOMY)

    @_alone
    def before(self, call: UpcomingCall) -> CheckpointOutcome:
        """Keep what is needed to take the call back; raises OSError."""
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
        )
        pending = _Pending(record)
        notes: tuple[str, ...] = ()
        lost: tuple[str, ...] = ()
        if call.paths is not None:
            pending.known = self._keep_known(call.paths)
            lost = _list_lost(pending.known)
        else:
            notes = self._snapshot()
            has = opened.trees.safe((*call.deletes, *call.strikes))
            needed = weight(call, has)
            if needed > self.room:
                # Everything older would have to go, and it would not be kept all the same.
                call = replace(call, deletes=(), strikes=())
                said = tr("{size} is more than the quota for checkpoints allows", size=size(needed))
                lost = (said,)
            self._make_room(needed if not lost else 0)
            pending.rescue = rescue(call, opened.blobs, has)
            lost += pending.rescue.list_lost()
        known = {**pending.known, **pending.rescue.states}
        changes = tuple(PathChange(path, state, state) for path, state in known.items())
        pending.record = replace(record, changes=changes, notes=(*lost, *notes))
        opened.records.put(pending.record)
        self._pending[call.call_id] = pending
        return CheckpointOutcome(lost, notes)

    @_alone
    def after(self, call_id: str) -> Record | None:
        """Find out what the call changed; raises OSError."""
        pending = self._pending.pop(call_id, None)
        if pending is None:
            return None
        opened = self._open()
        changes = self._changes(pending)
        if not changes:
            opened.records.drop(pending.record.number)
            return None
        record = replace(pending.record, changes=changes, is_open=False)
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
        """What is there now, its bytes kept for a merge or a redo."""
        blobs = self._open().blobs
        states = {path: _keep(blobs, path, None) for path in paths if is_direct(path)}
        return {path: _if_kept(path, states.get(path, ABSENT)) for path in paths}

    @_alone
    def read(self, state: PathState) -> bytes | None:
        """The bytes of a file as they were."""
        opened = self._open()
        if state.kind != "file" or not state.content:
            return None
        data = opened.blobs.read(state.content)
        return data if data is not None else opened.trees.read([state.content]).get(state.content)

    @_alone
    def write(self, data: bytes, like: PathState) -> PathState:
        """A state with these bytes."""
        name = self._open().blobs.add(data)
        return PathState("file", like.mode, 0, len(data), name)

    @_alone
    def merge(self, base: bytes, mine: bytes, other: bytes) -> tuple[bytes, bool] | None:
        """Both changes in one text."""
        root = self._roots[0]
        git = GitDirectory(root, self._environment, self._own / "merging")
        return git.merge(base, mine, other)

    @_alone
    def restore(
        self, plan: Sequence[RestoreStep], *, kind: RecordKind, of: Sequence[Record], turn: int
    ) -> RestoreOutcome:
        """Carry out an undo, which becomes a record itself; raises OSError."""
        opened = self._open()
        now = {each.path: _keep(opened.blobs, each.path, each.now) for each in plan}
        changes = tuple(PathChange(each.path, now[each.path], each.then) for each in plan)
        last = of[0]
        record = Record(
            number=opened.records.new_number(),
            kind=kind,
            turn=turn,
            call_id=last.call_id,
            tool=last.tool,
            title=last.title,
            time=time.time(),
            changes=changes,
            of=tuple(each.number for each in of),
            is_open=True,
        )
        opened.records.put(record)
        restored = Restorer(self.read).run(plan)
        done = frozenset(restored.done)
        changes = tuple(
            replace(each, after=_as_it_is(each.after, _keep(opened.blobs, each.path, None)))
            for each in changes
            if each.path in done
        )
        opened.records.put(replace(record, changes=changes, is_open=False))
        return restored

    @_alone
    def close(self) -> None:
        """Let go of what is held; what was kept stays for a later session."""
        if self._opened is not None:
            self._opened.trees.close()
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
        blobs = Blobs(own / "blobs")
        records = RecordFiles(own / "records")
        trees = Trees(self._roots, self._home, self._environment, own, blobs)
        self._opened = _SessionFiles(blobs, records, trees)
        self._others = quota.prune_others(
            self._directory, self._session_id, self._quota, days=self._days
        )
        blobs.room = self._quota - self._others - blobs.weight
        for record in records:
            if record.is_open and record.kind == "call":
                self._recover(record)
        return self._opened

    def _recover(self, record: Record) -> None:
        """Find out what a call that a crash cut short has changed, as far as can be told.

        What the person changed since then cannot be told apart, so the record stays open.
        """
        opened = self._open()
        known = {each.path: each.before for each in record.changes}
        if record.by == "tools":
            for path in known:
                remove_leftovers(path)
        rescued = Rescue(states=known, is_whole=False) if record.by == "shell" else Rescue()
        pending = _Pending(record, {} if record.by == "shell" else known, rescued)
        with contextlib.suppress(OSError):
            changes = self._changes(pending)
            if changes:
                opened.records.put(replace(record, changes=changes))
            else:
                opened.records.drop(record.number)

    def _keep_known(self, paths: Iterable[str]) -> dict[str, PathState]:
        """What is at these paths now, kept; directories that will be made on the way included."""
        blobs = self._open().blobs
        made = dict.fromkeys(parents_made(paths), ABSENT)
        return {**made, **{path: _keep(blobs, path, None) for path in paths}}

    def _snapshot(self) -> tuple[str, ...]:
        """Bring the manifests up to date; what changed since the last call is nobody's."""
        trees = self._open().trees
        try:
            trees.refresh()
        except NoGit as error:
            return (tr("what commands change cannot be taken back: {error}", error=error.strerror),)
        return trees.take_notes()

    def _changes(self, pending: _Pending) -> tuple[PathChange, ...]:
        opened, found = self._open(), list[PathChange]()
        for path, before in pending.known.items():
            found.append(PathChange(path, before, _keep(opened.blobs, path, None)))
        if pending.record.by == "shell":
            with contextlib.suppress(NoGit):
                found += opened.trees.refresh()
            found = opened.trees.with_bytes(found)
            seen = {each.path for each in found}
            rescued = [c for c in pending.rescue.changes(opened.blobs) if c.path not in seen]
            found += [_own(opened.blobs, each) for each in rescued]
        return tuple(each for each in found if not is_equal(each.before, each.after))

    def _make_room(self, needed: int = 0) -> None:
        """Let the oldest go if there is too little room; the last record always stays."""
        opened = self._open()
        if opened.blobs.weight + self._others + needed <= self._quota * _FULL:
            return
        aim = max(0, self.room - needed)
        left = max(0, aim - opened.blobs.weight)
        self._others = quota.prune_others(self._directory, self._session_id, left)
        records = [each for each in opened.records if not each.is_open]
        self._drop_unneeded()
        while opened.blobs.weight + self._others > aim and len(records) > 1:
            half = max(1, len(records) // 8)
            for record in records[:half]:
                opened.records.drop(record.number)
            del records[:half]
            self._drop_unneeded()
        opened.blobs.room = self._quota - self._others - opened.blobs.weight

    def _drop_unneeded(self) -> None:
        opened = self._open()
        needed = opened.trees.contents()
        for record in opened.records:
            for change in record.changes:
                needed |= {change.before.content, change.after.content}
        for pending in self._pending.values():
            needed |= {state.content for state in pending.rescue.states.values()}
        for name in opened.blobs.names - needed:
            opened.blobs.remove(name)


def _keep(blobs: Blobs, path: str, known: PathState | None) -> PathState:
    if known is not None and (known.kind != "file" or known.content in blobs):
        return known
    try:
        return keep(blobs, path, os.lstat(path))
    except (FileNotFoundError, NotADirectoryError):
        return ABSENT


def _if_kept(path: str, state: PathState) -> PathState:
    """The state; if its bytes could not be kept they are named nevertheless."""
    return look(path) if state.kind == "file" and not state.content else state


def _list_lost(states: Mapping[str, PathState]) -> tuple[str, ...]:
    return tuple(
        f"{path}: {state.why}" for path, state in states.items() if state.why and not state.is_kept
    )


def _own(blobs: Blobs, change: PathChange) -> PathChange:
    """The change, with bytes of ours: a file that was to be deleted and was not shares them."""
    before = change.before
    if before.kind != "file" or before.content not in blobs:
        return change
    return replace(change, before=replace(before, content=blobs.own(before.content)))


def _as_it_is(meant: PathState, found: PathState) -> PathState:
    """The state that was put there, with its mode and time; its bytes, if they were never read,
    by the name they have."""
    was_read = meant.kind != "file" or not is_unread(meant.content)
    times = (meant.size, meant.mtime_ns) == (found.size, found.mtime_ns)
    return found if found.is_same(meant) or (times and not was_read) else meant
