"""What an undo would do to each file, decided before anything is touched.

Three states meet at a path: `before` the call, `after` it, and `now`. Where now is still as the
call left it, what was before comes back. Where the person changed it since, their change is kept:
both are merged, and where that cannot be done, the person is asked. Nothing of theirs is ever given
up without a question.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from agent_cli.core.undo.checkpoint import PathChange, PathState, Record, RecordKind, RestoreStep
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
    """What the person can choose; the first holds if they choose nothing."""
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
    """What it takes back, the newest first."""
    files: tuple[FilePlan, ...]

    @property
    def conflicts(self) -> tuple[FilePlan, ...]:
        """The files about which the person has to decide."""
        return tuple(each for each in self.files if each.outcome == "conflict")

    def steps(self, choices: Mapping[str, Choice]) -> tuple[RestoreStep, ...]:
        """What is to be done, given the person's choices by path; without one, theirs stays."""
        steps = []
        for each in self.files:
            then = each.state_for(choices.get(each.path))
            if each.outcome != "lost" and then != each.now:
                steps.append(RestoreStep(each.path, each.now, then))
        return tuple(steps)


def plan(
    kind: RecordKind, records: Sequence[Record], now: Mapping[str, PathState], store: Bytes
) -> Preview:
    """How to take these records back, newest first."""
    files = []
    for path, changes in _by_path(records).items():
        found = _plan_path(path, changes, now[path], store)
        if found is not None:
            files.append(found)
    return Preview(kind, tuple(records), tuple(sorted(files, key=lambda each: each.path)))


def paths_of(records: Iterable[Record]) -> set[str]:
    """Every path the records speak of."""
    return {change.path for record in records for change in record.changes}


def _by_path(records: Iterable[Record]) -> dict[str, list[tuple[PathChange, bool]]]:
    found: dict[str, list[tuple[PathChange, bool]]] = {}
    for record in records:
        for change in record.changes:
            found.setdefault(change.path, []).append((change, record.is_open))
    return found


def _plan_path(
    path: str, changes: Sequence[tuple[PathChange, bool]], now: PathState, store: Bytes
) -> FilePlan | None:
    """None where there is nothing to do."""
    before, current, merged = changes[-1][0].before, now, False
    for change, is_open in changes:
        step = _step(change, current, store, is_sure=not is_open)
        if isinstance(step, str):
            return _make_conflict(path, changes, now, step, store)
        merged = merged or step not in (change.before, change.after, current)
        current = step
    if not before.is_kept and not now.is_same(before):
        why = before.why or tr("it was not kept")
        return FilePlan(path, "lost", now, now, before, why=why)
    if not now.exists and before.exists and not current.exists:
        return FilePlan(path, "deleted by you", now, now, before, ("keep", "restore"))
    if current == now or _is_equal_enough(current, now):
        return None
    return FilePlan(path, "merged" if merged else "restored", now, current, before)


def _step(change: PathChange, now: PathState, store: Bytes, *, is_sure: bool) -> PathState | str:
    """What one change, taken back, makes of what is there now; or why that is not certain."""
    before, after = change.before, change.after
    if now.is_same(before):
        return _with_mode(now, before, after) if now.mode == after.mode else now
    if now.is_same(after) and is_sure:
        return before if now.mode == after.mode else replace(before, mode=now.mode)
    if not is_sure:
        return tr("the program ended before the call did: whose change this is cannot be told")
    if not now.exists:
        return now
    if not before.exists:
        return tr("the call created it, and you changed it since")
    if not after.exists:
        return tr("the call deleted it, and you made it anew")
    return _merge(before, after, now, store)


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
    path: str, changes: Sequence[tuple[PathChange, bool]], now: PathState, why: str, store: Bytes
) -> FilePlan:
    before, base = changes[-1][0].before, changes[0][0].after
    if not before.is_kept:
        return FilePlan(path, "lost", now, now, before, why=before.why or tr("it was not kept"))
    marked = None
    if before.kind == base.kind == now.kind == "file":
        versions = [store.read(each) for each in (base, now, before)]
        found = None if None in versions else store.merge(*(each or b"" for each in versions))
        marked = store.write(found[0], now) if found else None
    choices: tuple[Choice, ...] = ("keep", "restore", "markers") if marked else ("keep", "restore")
    return FilePlan(path, "conflict", now, now, before, choices, why, marked)


def _with_mode(now: PathState, before: PathState, after: PathState) -> PathState:
    if now.kind == "file" and before.mode != after.mode:
        return replace(now, mode=before.mode, mtime_ns=before.mtime_ns)
    return before if now.kind == before.kind == "file" else now


def _is_equal_enough(current: PathState, now: PathState) -> bool:
    """Whether there is nothing to do but to set the time of a directory."""
    return current.kind == now.kind == "directory" and current.mode == now.mode
