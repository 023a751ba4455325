"""A compaction the person asked for: shown first, then applied or not."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from agent_cli.core.compacting.compactor import Compactor, Draft
from agent_cli.core.consult import consult
from agent_cli.core.events import Event, FinishReason, Notice, TurnFinished, TurnStarted
from agent_cli.core.inbox import Choice, Inbox, Question
from agent_cli.lib.language import mark, tr

log = logging.getLogger(__name__)

APPLY = mark("Apply")
CANCEL = mark("Cancel")


@dataclass
class CompactionByHand:
    """Reads like a turn to whoever follows its events."""

    focus: str
    number: int
    session_id: str
    model: str
    compactor: Compactor
    inbox: Inbox
    emit: Callable[[Event], None]
    _started: float = field(default_factory=time.monotonic)

    async def run(self) -> None:
        """Draft, ask, apply; the last event is TurnFinished, whatever happens."""
        prompt = f"/compact {self.focus}".rstrip()
        self.emit(
            TurnStarted(
                session_id=self.session_id, turn=self.number, prompt=prompt, model=self.model
            )
        )
        try:
            reason = tr("You asked.")
            draft = await self.compactor.draft(self.model, reason=reason, focus=self.focus)
            if draft is None:
                self.emit(Notice(text=tr("There is nothing to compact yet.")))
            elif await self._agreed(draft):
                self.compactor.apply(draft)
            else:
                self.emit(Notice(text=tr("Nothing was changed.")))
        except asyncio.CancelledError:
            self._finish("interrupted")
            raise
        except Exception as error:
            log.exception("the compaction failed")
            what = f"{type(error).__name__}: {error}"
            self._finish("failed", tr("This is a bug in the program: {what}", what=what))
        else:
            self._finish("done")

    async def _agreed(self, draft: Draft) -> bool:
        """Whether the person wants it; where nobody is, asking for it was enough."""
        question = Question(
            text=tr(
                "Shall the conversation be compacted like this?\n\n{ledger}",
                ledger=draft.ledger.text(),
            ),
            choices=(
                Choice(label=tr(APPLY), description=tr("/compact undo brings all of it back")),
                Choice(label=tr(CANCEL), description=tr("everything stays as it is")),
            ),
            is_open=False,
        )
        return await consult(self.inbox, self.emit, question) in (tr(APPLY), None)

    def _finish(self, reason: FinishReason, error: str = "") -> None:
        seconds = time.monotonic() - self._started
        self.emit(TurnFinished(turn=self.number, reason=reason, error=error, seconds=seconds))
