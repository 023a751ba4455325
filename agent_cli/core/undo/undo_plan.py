"""What an undo would do to each file, decided before anything is touched.

Three states meet at a path: `before` the call, `after` it, and `now`. Where now is still as the
call left it, what was before comes back. Where the user changed it since, their change is kept:
both are merged, and where that cannot be done, the user is asked. So they are about what changed
while a command ran that does not name it: it may be their own work. Without an answer it stays.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from agent_cli.core.undo.checkpoint import ABSENT, PathState, Record, RecordKind, RestoreStep
from agent_cli.lib.language import mark, tr

PlannedOutcome = Literal["restored", "merged", "conflict", "deleted by you", "lost"]
Choice = Literal["keep", "restore", "markers"]
"""Leave it as it is now; put back what was; both in one text with marks around what differs."""

CHOICES: dict[Choice, str] = {
    "keep": mark("keep mine"),
    "restore": mark("restore"),
    "markers": mark("merge with markers"),
}


class Bytes(Protocol):
    """What planning needs to know of bytes."""

    def read(self, state: PathState) -> bytes | None:
        """The bytes of a file as they were."""
        ...

    def finds(self, state: PathState) -> bool:
        """Whether this could be put back."""
        ...

    def write(self, data: bytes, like: PathState) -> PathState:
        """A state with these bytes."""
        ...

    def merge(self, base: bytes, mine: bytes, other: bytes) -> tuple[bytes, bool] | None:
        """Both changes in one, and whether they do not meet."""
        ...


@dataclass(frozen=True)
class FilePlan:
    """What is to become of one path."""

    path: str
    outcome: PlannedOutcome
    now: PathState
    then: PathState
    """What a plain yes puts there; in a conflict that is what is there now."""
    before: PathState
    """What was there before all of the calls."""
    choices: tuple[Choice, ...] = ()
    """What can be chosen; the first holds if nothing is."""
    why: str = ""
    marked: PathState | None = None
    """Both versions in one text, with markers."""

    def state_for(self, choice: Choice | None) -> PathState:
        """What the choice puts there."""
        if choice == "restore" and "restore" in self.choices:
            return self.before
        if choice == "markers" and self.marked is not None:
            return self.marked
        return self.now if choice == "keep" and self.choices else self.then


@dataclass(frozen=True)
class Preview:
    """What an undo or a redo would do."""

    kind: RecordKind
    records: tuple[Record, ...]
    """What it reverses, the newest first."""
    files: tuple[FilePlan, ...]
    notes: tuple[str, ...] = ()
    """What should be known besides, such as an undo that was cut short."""

    @property
    def conflicts(self) -> tuple[FilePlan, ...]:
        """The files about which the user has to decide."""
        return tuple(each for each in self.files if each.outcome == "conflict")

    def steps(self, choices: Mapping[str, Choice]) -> tuple[RestoreStep, ...]:
        """What is to be done, given choices by path; without one, a file stays as it is."""
        steps = []
        for each in self.files:
            then = each.state_for(choices.get(each.path))
            if each.outcome != "lost" and not then.is_equal(each.now):
                steps.append(RestoreStep(each.path, each.now, then))
        # A repository comes and goes as a whole, with every file in it.
        whole = tuple(f"{e.path}/" for e in steps if "repository" in (e.now.kind, e.then.kind))
        steps = [each for each in steps if not each.path.startswith(whole)]
        # What was moved here from a place to which it does not return is the only copy: it stays.
        bare = (each.before for each in self.files if each.before.ino and not each.before.content)
        left = {each.identity for each in bare}
        left -= {each.then.identity for each in steps}
        return tuple(each for each in steps if each.then.exists or each.now.identity not in left)


def plan(
    kind: RecordKind, records: Sequence[Record], now: Mapping[str, PathState], store: Bytes
) -> Preview:
    """What reversing these records would do, the newest first."""
    # What lies elsewhere now and will be moved out of the way can come back to where it was.
    movable = frozenset(each.identity for each in now.values() if each.ino)
    files = []
    for path, changes in _by_path(records).items():
        planned = _plan_path(path, _fold(changes), now.get(path, ABSENT), store, movable)
        if planned is not None:
            files.append(planned)
    if any(each.outcome == "lost" and each.before.kind == "repository" for each in files):
        files = [_leave_repository(each) for each in files]
    return Preview(kind, tuple(records), tuple(sorted(files, key=lambda each: each.path)))


def _leave_repository(each: FilePlan) -> FilePlan:
    """A repository that a call made stays where another one is lost: it may be its only copy."""
    if each.now.kind != "repository" or each.before.exists:
        return each
    why = tr("it may be the only copy of a repository that cannot be restored")
    return FilePlan(each.path, "lost", each.now, each.now, each.before, why=why)


def paths_of(records: Iterable[Record]) -> set[str]:
    """All paths that records speak of."""
    return {change.path for record in records for change in record.changes}


@dataclass(frozen=True)
class _Part:
    """What became of a path while nobody else changed it."""

    before: PathState
    after: PathState
    is_sure: bool
    doubt: str = ""


def _by_path(records: Iterable[Record]) -> dict[str, list[_Part]]:
    found: dict[str, list[_Part]] = {}
    for record in records:
        for each in record.changes:
            part = _Part(each.before, each.after, not record.is_open, each.doubt)
            found.setdefault(each.path, []).append(part)
    return found


def _fold(parts: Sequence[_Part]) -> list[_Part]:
    """The parts, the newest first, those that follow upon each other made one: the first before
    and the last after."""
    folded = [parts[0]]
    for older in parts[1:]:
        newer = folded[-1]
        if older.after.is_equal(newer.before):
            sure, doubt = newer.is_sure and older.is_sure, newer.doubt or older.doubt
            folded[-1] = _Part(older.before, newer.after, sure, doubt)
        else:
            folded.append(older)
    return folded


def _plan_path(
    path: str,
    parts: Sequence[_Part],
    now: PathState,
    store: Bytes,
    movable: Collection[tuple[str, int, int, int]],
) -> FilePlan | None:
    """None where there is nothing to do."""
    before, current, merged = parts[-1].before, now, False
    if now.is_equal(before):
        return None
    for part in parts:
        step = _step(part, current, store)
        if isinstance(step, str):
            return _make_conflict(path, parts, now, step, store)
        current, is_merged = step
        merged = merged or is_merged
    comes = current.exists and not current.is_same(now)
    if comes and not store.finds(current) and current.identity not in movable:
        why = before.why or tr("it is not kept")
        return FilePlan(path, "lost", now, now, before, why=why)
    if not now.exists and before.exists and not current.exists:
        return FilePlan(path, "deleted by you", now, now, before, ("keep", "restore"))
    if current.is_equal(now):
        return None
    return FilePlan(path, "merged" if merged else "restored", now, current, before)


def _step(part: _Part, now: PathState, store: Bytes) -> tuple[PathState, bool] | str:
    """What one part, reversed, makes of what is there now, and whether two changes were merged;
    or why that is not certain."""
    before, after = part.before, part.after
    if part.doubt:
        return part.doubt
    if before.is_equal(after):
        return now, False
    if now.is_same(before):
        return (_as_it_was(now, before) if now.mode == after.mode else now), False
    if not part.is_sure:
        return tr("the program ended before the call did, so this may be your change")
    if now.is_same(after):
        return (before if now.mode == after.mode else before._replace(mode=now.mode)), False
    if not now.exists:
        return now, False
    if not before.exists:
        return tr("you changed it since")
    if not after.exists:
        return tr("you created it again")
    merged = _merge(before, after, now, store)
    return merged if isinstance(merged, str) else (merged, True)


def _merge(before: PathState, after: PathState, now: PathState, store: Bytes) -> PathState | str:
    versions = [store.read(each) for each in (after, now, before)]
    if not before.kind == after.kind == now.kind == "file" or None in versions:
        return tr("you changed it since")
    found = store.merge(*(each or b"" for each in versions))
    if found is None:
        return tr("you changed it since, and it is not text")
    data, is_clean = found
    if not is_clean:
        return tr("you changed the same lines since")
    return store.write(data, before if now.mode == after.mode else now)


def _make_conflict(
    path: str, parts: Sequence[_Part], now: PathState, why: str, store: Bytes
) -> FilePlan:
    before, base = parts[-1].before, parts[0].after
    if not store.finds(before):
        return FilePlan(path, "lost", now, now, before, why=before.why or tr("it is not kept"))
    marked = None
    if before.kind == base.kind == now.kind == "file":
        versions = [store.read(each) for each in (base, now, before)]
        found = None if None in versions else store.merge(*(each or b"" for each in versions))
        is_marked = found is not None and not found[1]
        marked = store.write(found[0], now) if found and is_marked else None
    choices: tuple[Choice, ...] = ("keep", "restore", "markers") if marked else ("keep", "restore")
    return FilePlan(path, "conflict", now, now, before, choices, why, marked)


def _as_it_was(now: PathState, before: PathState) -> PathState:
    """What is there, with the mode and the time it had."""
    if now.kind == "directory":
        return now._replace(mode=before.mode)
    return now._replace(mode=before.mode, mtime_ns=before.mtime_ns)
