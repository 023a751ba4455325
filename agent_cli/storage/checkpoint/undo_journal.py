"""An undo from its plan to its record: killed at any moment, it can be accounted for."""

# ruff: noqa: PTH102, PTH104

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from agent_cli.core.undo.checkpoint import (
    ABSENT,
    PathChange,
    PathState,
    Record,
    RecordKind,
    RestoreOutcome,
    RestoreStep,
)
from agent_cli.lib.language import tr
from agent_cli.storage.checkpoint.aside import Aside, holds, remove
from agent_cli.storage.checkpoint.blobs import Blobs
from agent_cli.storage.checkpoint.records import RecordFiles
from agent_cli.storage.checkpoint.restore import Restorer, Step, dress, open_up
from agent_cli.storage.checkpoint.states import bare, look, lstat, made_on_the_way


@dataclass
class Journal:
    """Carries out undos. What each moves is written down before it moves anything."""

    blobs: Blobs
    records: RecordFiles
    aside: Aside
    roots: Sequence[str]

    def restore(
        self, plan: Sequence[RestoreStep], kind: RecordKind, of: Sequence[Record], turn: int
    ) -> RestoreOutcome:
        """Do it, and keep a record of it; raises OSError."""
        number = self.records.new_number()
        for each in sorted(plan, key=lambda each: each.path.count("/")):
            open_up(each)
        steps = []
        coming = made_on_the_way(each.path for each in plan if each.then.exists)
        made = coming.keys() - {each.path for each in plan}
        folders = [
            RestoreStep(path, ABSENT, PathState("directory", 0o755)) for path in sorted(made)
        ]
        for index, each in enumerate([*folders, *plan]):
            base = self.aside.base(each.path, self.roots)
            now = each.now._replace(aside=f"{base}/{number}-{index}")
            steps.append(Step(each.path, now, each.then))
        record = Record(
            number=number,
            kind=kind,
            turn=turn,
            call_id=of[0].call_id,
            tool=of[0].tool,
            title=of[0].title,
            time=time.time(),
            changes=tuple(PathChange(each.path, each.now, each.then) for each in steps),
            of=tuple(each.number for each in of),
            is_open=True,
        )
        self.records.put(record)
        restored = Restorer(self.blobs, self.aside, self.locator()).run(steps)
        done = frozenset(restored.done)
        self._close(record, [each for each in record.changes if each.path in done], record.of)
        return restored

    def recover(self, record: Record) -> str:
        """Account for an undo that was cut short; what happened, in words.

        A path in the middle of being exchanged gets back what it had. The rest stays as it is: what
        was restored can be redone, what was not can be undone.
        """
        done = [each for each in record.changes if self._was_done(each)]
        for each in record.changes:
            if each.before.aside:
                remove(f"{each.before.aside}.new")
        is_whole = len(done) == len(record.changes)
        self._close(record, done, record.of if is_whole else ())
        what = record.kind
        if is_whole:
            return tr("The last {what} was cut short, but all of it is done.", what=what)
        return tr(
            "The last {what} was cut short: {done:,} of {all:,} files are done. "
            "/{what} continues; nothing is lost.",
            what=what,
            done=len(done),
            all=len(record.changes),
        )

    def locator(self) -> Callable[[PathState], str | None]:
        """Finds where things lie that were moved aside at any time."""
        found: dict[tuple[str, int, int, int], list[str]] = {}
        for record in self.records:
            for change in record.changes:
                for state in (change.before, change.after):
                    if state.aside and state.ino:
                        found.setdefault(state.identity, []).append(state.aside)

        def locate(state: PathState) -> str | None:
            places = found.get(state.identity, ())
            return next((place for place in places if holds(place, state)), None)

        return locate

    def _close(self, record: Record, done: Iterable[PathChange], of: tuple[int, ...]) -> None:
        changes = tuple(
            replace(each, before=_if_aside(each.before), after=_as_it_is(each.path, each.after))
            for each in done
        )
        self.records.put(replace(record, changes=changes, of=of, is_open=False, ended=time.time()))

    def _was_done(self, change: PathChange) -> bool:
        before, then = change.before, change.after
        is_there = lstat(change.path) is not None
        if then.exists and before.exists and not is_there:
            if before.kind == "directory":
                os.mkdir(change.path, before.mode)
            elif os.path.lexists(before.aside):
                os.rename(before.aside, change.path)
            return False
        if not is_there:
            return not then.exists
        found = look(change.path)
        if before.is_same(then if then.exists else before) and found.is_same(before):
            if then.exists and found.is_equal(then):
                return True
            dress(change.path, before)  # a new mode or time that was set only in part
            return False
        if found.is_same(then):
            dress(change.path, then)
            return True
        return False


def _if_aside(state: PathState) -> PathState:
    return state if os.path.lexists(state.aside) else state._replace(aside="")


def _as_it_is(path: str, then: PathState) -> PathState:
    """What was put there, as the disk knows it now."""
    status = lstat(path)
    if status is None:
        return then._replace(aside="")
    found = bare(path, status)
    return found._replace(content=then.content) if found.kind == then.kind else then
