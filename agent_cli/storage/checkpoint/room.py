"""Keeps what a session keeps within the quota that all of them share."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from agent_cli.core.undo.checkpoint import PathState
from agent_cli.lib.language import tr
from agent_cli.lib.text import size
from agent_cli.storage.checkpoint.aside import Aside
from agent_cli.storage.checkpoint.blobs import Blobs
from agent_cli.storage.checkpoint.quota import prune_others
from agent_cli.storage.checkpoint.records import RecordFiles
from agent_cli.storage.checkpoint.workspace import Workspace

TOLD, FULL, ROOMY = 0.8, 0.9, 0.7
"""Shares of the quota: from the first on it is told that the oldest will go, beyond the second they
go, until no more than the third is left."""


@dataclass
class Room:
    """Lets the oldest go, before a call and never during an undo."""

    own: Path
    blobs: Blobs
    records: RecordFiles
    aside: Aside
    workspace: Workspace
    quota: int
    days: float
    _beside: int | None = None
    """Bytes kept for other sessions, and of things that lie aside; None: to be measured."""
    _is_told: bool = False

    def make(self, in_use: Iterable[PathState], needed: int = 0) -> None:
        """Let the oldest go if there is too little room, once that was told; the last record
        always stays."""
        if self._beside is None:
            self._measure(self.quota, self.days)
        may_drop = self._is_told or needed > 0
        if self._weight > self.quota * TOLD:
            self._is_told = True
            told = tr(
                "Undo has used {share:.0%} of {quota}: the oldest changes will be let go when it "
                "is full.",
                share=TOLD,
                quota=size(self.quota),
            )
            self.workspace.note(told)
        if may_drop and self._weight + needed > self.quota * FULL:
            most = max(0, int(self.quota * ROOMY) - needed)
            self._measure(max(0, most - self.blobs.weight))
            self._drop_oldest(list(in_use), most)
        self.blobs.room = self.quota - self._weight

    def measure_again(self) -> None:
        """Something was moved aside."""
        self._beside = None

    @property
    def _weight(self) -> int:
        return self.blobs.weight + (self._beside or 0)

    def _measure(self, most: int, days: float | None = None) -> None:
        others = prune_others(self.own.parent, self.own.name, most, days=days)
        self._beside = others + self.aside.weight()

    def _drop_oldest(self, in_use: list[PathState], most: int) -> None:
        records = [each for each in self.records if not each.is_open]
        self._drop_unneeded(in_use)
        while self._weight > most and len(records) > 1:
            share = max(1, len(records) // 8)
            for record in records[:share]:
                self.records.drop(record.number)
            del records[:share]
            self._drop_unneeded(in_use)
            self._measure(self.quota)

    def _drop_unneeded(self, in_use: list[PathState]) -> None:
        states = [s for r in self.records for c in r.changes for s in (c.before, c.after)]
        states += in_use
        needed = self.workspace.needed() | {each.content for each in states}
        self.blobs.drop_unneeded(needed)
        self.aside.drop_unneeded(needed | {each.aside for each in states})
