"""A session's economy with tokens and money, put together."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from functools import partial

from agent_cli.core.compaction.compactor import Compactor
from agent_cli.core.compaction.recent_files import RecentFiles, recent_files
from agent_cli.core.context_usage import ContextUsage
from agent_cli.core.errors import UserError
from agent_cli.core.events import Event
from agent_cli.core.loop import Turn
from agent_cli.core.memory import Memory
from agent_cli.core.message_history import Conversation
from agent_cli.core.messages import Message
from agent_cli.core.model import Model, ModelFacts, ModelRequest, Prices
from agent_cli.core.money.accounting import Accounting, KnownModels
from agent_cli.core.money.budget import Budget, BudgetCheck, BudgetGuard
from agent_cli.core.money.spending import Spending
from agent_cli.core.parts import Parts
from agent_cli.core.pipeline import Pipeline
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import for_model


class Upkeep:
    """Counts, warns, asks and makes room, for the session's own conversation or an agent's."""

    def __init__(
        self,
        parts: Parts,
        *,
        conversation: Conversation,
        memory: Memory,
        spending: Spending,
        emit: Callable[[Event], None],
        model: Callable[[], Model],
        request: Callable[[], ModelRequest],
    ) -> None:
        self._parts = parts
        self._conversation = conversation
        self._emit = emit
        self._model = model
        self._request = request
        self.accounting = Accounting(
            KnownModels(parts.models), reads_files=self._reads_files, emit=emit, spending=spending
        )
        upkeep_settings = parts.upkeep_settings
        self.compactor = Compactor(
            conversation=conversation,
            accounting=self.accounting,
            request=request,
            memory=memory,
            files=self._recent_files,
            writers=self._writers,
            emit=emit,
            compact_at=upkeep_settings.compact_at,
            automatic=upkeep_settings.automatic,
        )
        self.budget_guard = BudgetGuard(
            budget=Budget(
                spending, upkeep_settings.session, upkeep_settings.day, upkeep_settings.others_today
            ),
            emit=emit,
            ask=partial(parts.inbox.consult, emit=emit),
            tell_model=conversation.tell_model,
            cause=self._cause,
            cheaper=self._cheaper,
        )

    def turn(
        self,
        number: int,
        pipeline: Pipeline,
        use_model: Callable[[str], Model],
        budget_guard: BudgetCheck | None = None,
    ) -> Turn:
        """A turn of the conversation."""
        parts, model = self._parts, self._model()
        return Turn(
            number=number,
            session_id=parts.view.id,
            conversation=self._conversation,
            pipeline=pipeline,
            models=[model, *parts.stand_ins(model.name)[0]],
            request=self._request,
            emit=self._emit,
            accounting=self.accounting,
            budget_guard=budget_guard or self.budget_guard,
            compactor=self.compactor,
            use_model=use_model,
            max_steps=parts.max_steps,
            retry=parts.retry,
        )

    async def facts(self, name: str) -> ModelFacts:
        """What is known of a model."""
        return await self.accounting.known.facts(name)

    def fill(self) -> ContextUsage:
        """What the next request would fill the window with."""
        return self.accounting.fill(self._model().name, self._request())

    def _reads_files(self, name: str) -> bool:
        tool = self._parts.registry.get(name)
        return tool is not None and tool.is_read_only and "file" in tool.tags

    async def _recent_files(self, messages: Sequence[Message], room: int) -> RecentFiles:
        parts = self._parts
        return await asyncio.to_thread(
            recent_files,
            messages,
            parts.registry,
            parts.view.workspace,
            clean=lambda text: parts.result_filter.redact(for_model(text)[0]),
            room=room,
        )

    def _writers(self) -> Sequence[Model]:
        writers = [self._model()]
        if self._parts.upkeep_settings.fast_model:
            with contextlib.suppress(UserError):  # the model in use can write it too
                writers.insert(0, self._parts.models.get(self._parts.upkeep_settings.fast_model))
        return list({writer.name: writer for writer in writers}.values())

    def _cause(self) -> str:
        total, fill = self.accounting.spending.total, self.fill()
        most = max(count for _, count in fill.parts) / max(1, fill.total)
        return tr(
            "So far: {sent:,} tokens sent ({cached:,} cached), {received:,} received. "
            "Each request now has about {size:,}, {share:.0%} of it {part}.",
            sent=total.input_tokens,
            cached=total.cached_tokens,
            received=total.output_tokens,
            size=fill.total,
            share=most,
            part=fill.largest,
        )

    async def _cheaper(self) -> Sequence[str]:
        now = self._model().name
        prices = (await self.facts(now)).prices
        if prices is None:
            return ()
        found = []
        for name in dict.fromkeys((self._parts.upkeep_settings.fast_model, *self._parts.fallbacks)):
            if name and name != now and await self._is_below(name, prices):
                found.append(name)
        return found

    async def _is_below(self, name: str, prices: Prices) -> bool:
        try:
            other = (await self.facts(name)).prices
        except UserError:
            return False  # it cannot be used: there is no key for it
        return other is not None and other.is_below(prices)
