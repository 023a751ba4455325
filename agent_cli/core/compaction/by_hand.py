"""A compaction the user asked for: shown first, then applied or not."""

from __future__ import annotations

from dataclasses import dataclass

from agent_cli.core.compaction.compactor import Compactor, Draft
from agent_cli.core.events import Notice
from agent_cli.core.inbox import Choice, Inbox, Question
from agent_cli.core.side_turn import SideTurn
from agent_cli.lib.language import mark, tr

APPLY = mark("Apply")
CANCEL = mark("Cancel")


@dataclass(kw_only=True)
class CompactionByHand(SideTurn):
    """One /compact."""

    focus: str
    compactor: Compactor
    inbox: Inbox

    @property
    def prompt(self) -> str:
        """As it was typed."""
        return f"/compact {self.focus}".rstrip()

    async def work(self) -> None:
        """Draft, ask, apply."""
        reason = tr("You asked for it.")
        draft = await self.compactor.draft(self.model, reason=reason, focus=self.focus)
        if draft is None:
            self.emit(Notice(text=tr("Nothing to compact yet.")))
        elif await self._is_agreed(draft):
            self.compactor.apply(draft)
        else:
            self.emit(Notice(text=tr("Nothing was changed.")))

    async def _is_agreed(self, draft: Draft) -> bool:
        """Whether the user wants it; where nobody is, asking for it was enough."""
        question = Question(
            text=tr("Compact the conversation like this?\n\n{ledger}", ledger=draft.ledger.text()),
            choices=(
                Choice(label=tr(APPLY), description=tr("/compact undo restores all of it")),
                Choice(label=tr(CANCEL), description=tr("leave everything as it is")),
            ),
            is_open=False,
        )
        return await self.inbox.consult(question, self.emit) in (tr(APPLY), None)
