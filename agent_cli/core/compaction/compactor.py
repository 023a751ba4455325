"""Keeps the conversation within the model's window: when, how far, and by whose summary."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from agent_cli.core.compaction.compaction_report import CompactionReport
from agent_cli.core.compaction.recent_files import RecentFiles
from agent_cli.core.compaction.shortening import (
    CompactedPast,
    ShortenedHistory,
    can_compact,
    compact,
    divide,
    thin,
)
from agent_cli.core.compaction.summary import (
    GAP,
    MAX_SUMMARY_CHARS,
    MAX_WHOLE_CHARS,
    summary_request,
)
from agent_cli.core.context_usage import messages_tokens
from agent_cli.core.errors import ModelError
from agent_cli.core.events import Event, HistoryCompacted, Notice
from agent_cli.core.memory import Memory
from agent_cli.core.message_history import Conversation
from agent_cli.core.messages import Message
from agent_cli.core.model import Model, ModelRequest, Usage, ask_aside
from agent_cli.core.money.accounting import Accounting
from agent_cli.lib.language import tr
from agent_cli.lib.text import head_and_tail

log = logging.getLogger(__name__)

THINNED_ENOUGH_SHARE = 0.75
"""Thinning is enough when it leaves less than this share of what may be filled."""
NEWEST_SHARE = 0.2
FILES_SHARE = 0.15
"""Shares of the window for the newest messages as they are, and for files read again."""
DEFAULT_WINDOW_TOKENS = 64_000
"""Tokens to reckon with where the window is not known."""
MIN_TOKENS_TO_COMPACT = 2_000
"""Tokens said; before that, the window need not even be known."""
MIN_GROWTH_SHARE = 0.1
"""The share of the window that must have come since a compaction that did not help."""


@dataclass(frozen=True)
class Draft:
    """A compaction that is not applied yet."""

    reason: str
    shortened: ShortenedHistory
    ledger: CompactionReport


@dataclass
class Compactor:
    """Shortens one conversation."""

    conversation: Conversation
    accounting: Accounting
    request: Callable[[], ModelRequest]
    """What would be sent now."""
    memory: Memory
    files: Callable[[Sequence[Message], int], Awaitable[RecentFiles]]
    """The files touched last, in at most so many bytes."""
    writers: Callable[[], Sequence[Model]]
    """Who may write a summary, the best choice first."""
    emit: Callable[[Event], None]
    compact_at: float = 0.8
    automatic: bool = True
    _left: int = 0
    """The tokens that the last compaction left, or could not do anything about."""

    async def before_step(self, model: str) -> None:
        """Make room if the next request would fill the window too far."""
        if (
            not self.automatic
            or messages_tokens(self.conversation.messages) < MIN_TOKENS_TO_COMPACT
        ):
            return
        window = (await self.accounting.known.facts(model)).window
        if window is None:
            return
        limit = round(window * self.compact_at)
        size = self._size(model)
        if self.memory.take_undone():
            self._left = size  # what the user undid is not done again at once
        if size >= max(limit, self._left + round(MIN_GROWTH_SHARE * window) if self._left else 0):
            reason = tr("The context window was {share:.0%} full.", share=size / window)
            if not await self._shorten(
                model, window, reason, limit, enough=limit * THINNED_ENOUGH_SHARE
            ):
                self._left = size

    async def after_overflow(self, model: str, reason: str) -> bool:
        """The provider refused the request for its length; whether it is shorter now."""
        size = self._size(model)
        window = (await self.accounting.known.facts(model)).window or size
        # There is no second try, so thinning alone is not relied upon.
        return await self._shorten(model, min(window, size), reason, round(size * 0.8), enough=0)

    async def _shorten(
        self, model: str, window: int, reason: str, limit: int, *, enough: float
    ) -> bool:
        """Thin, and if that does not make it fit well enough, compact."""
        thinned = self._thin(model, reason)
        if thinned is not None and _is_within(thinned, enough):
            self.apply(thinned)
            return True
        draft = await self.draft(model, reason=reason, window=window)
        if draft is None or (not draft.ledger.summary and _is_within(thinned, limit)):
            draft = thinned  # without a summary, what was said is better kept if that is possible
        if draft is None or draft.ledger.tokens_after >= draft.ledger.tokens_before:
            return False
        self.apply(draft)
        if not _is_within(draft, limit):
            tokens = draft.ledger.tokens_after
            text = tr("What has to be kept still takes about {tokens:,} tokens.", tokens=tokens)
            hint = tr("/unpin what you don't need, or start over with /clear.")
            self.emit(Notice(level="warning", text=text, hint=hint))
        return True

    def _thin(self, model: str, reason: str) -> Draft | None:
        shortened = thin(self.conversation.messages, self._pins)
        return self._draft(model, reason, shortened) if shortened.dropped else None

    async def draft(
        self, model: str, *, reason: str, window: int | None = None, focus: str = ""
    ) -> Draft | None:
        """A compaction with a summary; None if there is nothing to summarise.

        Without a window to fit into, as much as can be is summarised.
        """
        messages = self.conversation.messages
        factor = self.accounting.scale.factor(model)
        room = round(window * NEWEST_SHARE / factor) if window else 0
        window = (
            window or (await self.accounting.known.facts(model)).window or DEFAULT_WINDOW_TOKENS
        )
        older, newest = divide(messages, room)
        if not can_compact(older):
            older, newest = divide(messages, 0)
        if not can_compact(older):
            return None
        summary, writer = await self._summary(older, focus)
        recent = await self.files(messages, round(window * FILES_SHARE / factor) * 4)
        kept = CompactedPast(summary, writer, self._pins, recent.files, recent.too_large)
        return self._draft(model, reason, compact(older, newest, kept), summary, writer)

    def apply(self, draft: Draft) -> None:
        """Go on with the shorter history."""
        self.memory.compacting(len(draft.shortened.messages))
        self.conversation.replace(
            draft.shortened.messages, reason=draft.reason, ledger=draft.shortened.lines
        )
        self._left = draft.ledger.tokens_after
        self.accounting.spending.last = Usage(input_tokens=self._left)
        self.emit(
            HistoryCompacted(
                reason=draft.reason, dropped=draft.shortened.dropped, ledger=draft.ledger
            )
        )

    async def _summary(self, older: Sequence[Message], focus: str) -> tuple[str, str]:
        """A summary and who wrote it; empty if nobody could, which the user is told."""
        problem = tr("no model available")
        for writer in self.writers():
            try:
                facts = await self.accounting.known.facts(writer.name)
                longest = min(MAX_WHOLE_CHARS, (facts.window or MAX_WHOLE_CHARS) * 2)
                request = summary_request(older, focus=focus, longest=longest)
                async with self.accounting.watching(writer.name, request) as received:
                    reply = await ask_aside(writer, request, received)
            except ModelError as error:
                problem = error.message
                continue
            self.accounting.count_aside(writer.name, reply.usage)
            if summary := head_and_tail(reply.message.text.strip(), MAX_SUMMARY_CHARS, GAP):
                return summary, writer.name
            problem = tr("{model} wrote nothing", model=writer.name)
        log.warning("no summary could be written: %s", problem)
        text = tr(
            "The conversation couldn't be summarised ({problem}). "
            "Older parts are left out instead; what you said and pinned is kept.",
            problem=problem,
        )
        hint = tr("/compact undo restores the rest.")
        self.emit(Notice(level="warning", text=text, hint=hint))
        return "", ""

    def _draft(
        self,
        model: str,
        reason: str,
        shortened: ShortenedHistory,
        summary: str = "",
        writer: str = "",
    ) -> Draft:
        factor = self.accounting.scale.factor(model)
        before = self._size(model)
        saved = messages_tokens(self.conversation.messages) - messages_tokens(shortened.messages)
        ledger = CompactionReport(
            lines=shortened.lines,
            tokens_before=before,
            tokens_after=max(0, before - round(saved * factor)),
            summary=summary,
            writer=writer,
        )
        return Draft(reason, shortened, ledger)

    @property
    def _pins(self) -> tuple[str, ...]:
        return tuple(pin.text for pin in self.memory.pins)

    def _size(self, model: str) -> int:
        return self.accounting.fill(model, self.request()).total


def _is_within(draft: Draft | None, limit: float) -> bool:
    return draft is not None and draft.ledger.tokens_after <= limit
