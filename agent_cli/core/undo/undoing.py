"""Undo, redo and going back, as a frontend uses them: first a preview, then a yes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from agent_cli.core.errors import UserError
from agent_cli.core.events import TurnStarted
from agent_cli.core.log.entries import Entry, EventAdded
from agent_cli.core.log.history import path
from agent_cli.core.undo.checkpoint import Checkpoints, Record, RestoreOutcome
from agent_cli.core.undo.undo_diffs import FileDiff, diff, net_changes
from agent_cli.core.undo.undo_plan import Choice, Preview, paths_of, plan
from agent_cli.lib.language import tr
from agent_cli.lib.text import plural

UndoScope = Literal["call", "turn"]


@dataclass(frozen=True)
class RewindPoint:
    """A prompt that can be gone back to, and what was changed after it."""

    turn: int
    prompt: str
    entry: str | None
    """The entry of the log before the prompt; None: there is none."""
    calls: tuple[Record, ...] = ()
    """What its calls changed and is not undone, oldest first."""


@dataclass
class Undoing:
    """Undoes what calls did to files. Blocking work is done in threads."""

    checkpoints: Checkpoints
    is_running: Callable[[], bool]
    turn: Callable[[], int]
    tell_model: Callable[[str], None]
    entries: Callable[[], Sequence[Entry]]

    async def records(self) -> tuple[Record, ...]:
        """What calls changed and is not undone, oldest first."""
        return standing(await asyncio.to_thread(self.checkpoints.records))

    async def notes(self) -> tuple[str, ...]:
        """What should be known of earlier, such as an undo that was cut short."""
        await self.records()
        return self.checkpoints.take_notes()

    async def diffs(self, root: str) -> tuple[FileDiff, ...]:
        """What calls changed and is not undone, one unified diff for each path."""
        changes = net_changes(await self.records())

        def work() -> tuple[FileDiff, ...]:
            found = (diff(each, root, self.checkpoints) for each in changes)
            return tuple(each for each in found if each)

        return await asyncio.to_thread(work)

    async def preview(self, scope: UndoScope | str = "turn") -> Preview:
        """What undoing the last call, the last turn or the call of an id would do.

        Raises UserError where there is nothing to undo.
        """
        records = await self.records()
        if not records:
            raise UserError(tr("There is nothing to undo in this session."))
        if scope == "call":
            wanted = records[-1:]
        elif scope == "turn":
            wanted = tuple(each for each in records if each.turn == records[-1].turn)
        else:
            wanted = tuple(each for each in records if each.call_id == scope)
        if not wanted:
            raise UserError(tr("Call {id} changed no file, or it is undone already.", id=scope))
        return await self._plan("undo", tuple(reversed(wanted)))

    async def preview_since(self, turn: int) -> Preview:
        """What undoing this turn and all after it would do; maybe nothing."""
        records = [each for each in await self.records() if each.turn >= turn]
        return await self._plan("undo", tuple(reversed(records)))

    async def preview_redo(self) -> Preview:
        """What redoing what was undone last would do; raises UserError."""
        undone = last_undo(await asyncio.to_thread(self.checkpoints.records))
        if undone is None:
            raise UserError(tr("There is nothing to redo."))
        return await self._plan("redo", (undone,))

    async def apply(
        self, preview: Preview, choices: Mapping[str, Choice] | None = None
    ) -> RestoreOutcome:
        """Do what was previewed; a conflict without a choice stays as it is. Raises UserError."""
        if self.is_running():
            raise UserError(tr("The agent is still working."), hint=tr("Interrupt it first."))
        if not preview.records:
            return RestoreOutcome()
        steps = preview.steps(choices or {})

        def work() -> RestoreOutcome:
            return self.checkpoints.restore(
                steps, kind=preview.kind, of=preview.records, turn=self.turn()
            )

        try:
            restored = await asyncio.to_thread(work)
        except OSError as error:
            why = error.strerror or error
            raise UserError(tr("The undo could not be done: {error}.", error=why)) from error
        self.tell_model(_describe_for_model(preview, restored))
        return restored

    async def moments(self) -> tuple[RewindPoint, ...]:
        """The prompts of the conversation, oldest first."""
        records = await self.records()
        found = []
        for entry in path(self.entries()):
            match entry.body:
                case EventAdded(event=TurnStarted(turn=turn, prompt=prompt)):
                    calls = tuple(each for each in records if each.turn == turn)
                    found.append(RewindPoint(turn, prompt, entry.parent, calls))
                case _:
                    pass
        return tuple(found)

    async def _plan(self, kind: Literal["undo", "redo"], records: tuple[Record, ...]) -> Preview:
        def work() -> Preview:
            now = self.checkpoints.now(paths_of(records))
            planned = plan(kind, records, now, self.checkpoints)
            return replace(planned, notes=self.checkpoints.take_notes())

        return await asyncio.to_thread(work)


def standing(records: Iterable[Record]) -> tuple[Record, ...]:
    """The calls that were not undone, or were redone, oldest first."""
    calls: dict[int, Record] = {}
    undone: dict[int, tuple[int, ...]] = {}
    away: set[int] = set()
    for record in records:
        match record.kind:
            case "call":
                calls[record.number] = record
            case "undo":
                undone[record.number] = record.of
                away.update(record.of)
            case "redo":
                for number in record.of:
                    away.difference_update(undone.get(number, ()))
    return tuple(each for number, each in calls.items() if number not in away)


def last_undo(records: Iterable[Record]) -> Record | None:
    """The undo that can be redone: the last one, if no call has changed anything since."""
    undone: list[Record] = []
    for record in records:
        match record.kind:
            case "call":
                undone.clear()
            case "undo":
                undone.append(record)
            case "redo":
                undone = [each for each in undone if each.number not in record.of]
    return undone[-1] if undone else None


def _describe_for_model(preview: Preview, restored: RestoreOutcome) -> str:
    """What the model hears of it in the next turn."""
    names = ", ".join(sorted(restored.done)[:20])
    more = f" and {len(restored.done) - 20} more" if len(restored.done) > 20 else ""
    what = "undid changes of yours" if preview.kind == "undo" else "reapplied changes of yours"
    files = plural(len(restored.done), "path")
    return f"I {what}: {files} changed on disk: {names}{more}. Read files again before editing."
