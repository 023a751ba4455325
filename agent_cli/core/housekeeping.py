"""A session's economy with tokens and money, put together."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent_cli.core.compacting.compactor import Compactor
from agent_cli.core.compacting.recent_files import RecentFiles, recent_files
from agent_cli.core.consult import consult
from agent_cli.core.context import Fill
from agent_cli.core.conversation import Conversation
from agent_cli.core.errors import UserError
from agent_cli.core.events import Event
from agent_cli.core.inbox import Inbox
from agent_cli.core.memory import Memory
from agent_cli.core.messages import Message, UserMessage
from agent_cli.core.model import Model, ModelFacts, ModelRequest, Models, Prices
from agent_cli.core.money.accounting import Accounting, KnownModels
from agent_cli.core.money.budget import Budget, Treasurer
from agent_cli.core.money.spending import Spending
from agent_cli.core.outgoing import Outgoing
from agent_cli.core.registry import Registry
from agent_cli.lib.language import tr
from agent_cli.safety.paths import Workspace
from agent_cli.safety.sanitise import for_model


@dataclass(frozen=True, kw_only=True)
class Economy:
    """How much may be spent and filled."""

    session: float | None = None
    """Dollars in this session."""
    day: float | None = None
    """Dollars in a day, over all sessions."""
    others_today: Callable[[], float] = lambda: 0.0
    """What other sessions have spent today."""
    compact_at: float = 0.8
    """The share of the window at which the conversation is shortened."""
    automatic: bool = True
    fast_model: str = ""
    """Writes titles and summaries; empty: the model in use does."""


@dataclass(frozen=True, kw_only=True)
class Household:
    """What of a session the housekeeping needs."""

    models: Models
    registry: Registry
    workspace: Workspace
    outgoing: Outgoing
    inbox: Inbox
    conversation: Conversation
    emit: Callable[[Event], None]
    model: Callable[[], Model]
    request: Callable[[Model], ModelRequest]
    memory: Memory
    stand_ins: Sequence[str] = ()


class Housekeeping:
    """Counts, warns, asks and makes room."""

    def __init__(self, economy: Economy, house: Household, spending: Spending) -> None:
        self._economy = economy
        self._house = house
        self._known = KnownModels(house.models)
        self.accounting = Accounting(
            self._known, reads_files=self._reads_files, emit=house.emit, spending=spending
        )
        self.compactor = Compactor(
            conversation=house.conversation,
            accounting=self.accounting,
            request=lambda: house.request(house.model()),
            memory=house.memory,
            files=self._recent_files,
            writers=self._writers,
            emit=house.emit,
            compact_at=economy.compact_at,
            automatic=economy.automatic,
        )
        self.treasurer = Treasurer(
            budget=Budget(spending, economy.session, economy.day, economy.others_today),
            emit=house.emit,
            ask=lambda question: consult(house.inbox, house.emit, question),
            tell_model=self._tell_model,
            cause=self._cause,
            cheaper=self._cheaper,
        )

    async def facts(self, name: str) -> ModelFacts:
        """What is known of a model."""
        return await self._known.facts(name)

    def fill(self) -> Fill:
        """What the next request would fill the window with."""
        model = self._house.model()
        return self.accounting.fill(model.name, self._house.request(model))

    def _reads_files(self, name: str) -> bool:
        tool = self._house.registry.get(name)
        return tool is not None and tool.is_read_only and "file" in tool.tags

    async def _recent_files(self, messages: Sequence[Message], room: int) -> RecentFiles:
        house = self._house
        return await asyncio.to_thread(
            recent_files,
            messages,
            house.registry,
            house.workspace,
            clean=lambda text: house.outgoing.redact(for_model(text)[0]),
            room=room,
        )

    def _writers(self) -> Sequence[Model]:
        writers = [self._house.model()]
        if self._economy.fast_model:
            with contextlib.suppress(UserError):  # the model in use can write it too
                writers.insert(0, self._house.models.get(self._economy.fast_model))
        return list({writer.name: writer for writer in writers}.values())

    def _tell_model(self, text: str) -> None:
        self._house.conversation.append(UserMessage(content=text, origin="program"))

    def _cause(self) -> str:
        total, fill = self.accounting.spending.total, self.fill()
        most = max(count for _, count in fill.parts) / max(1, fill.total)
        return tr(
            "So far {sent:,} tokens were sent ({cached:,} from the cache) and {received:,} "
            "received; each request now has about {size:,}, {share:.0%} of it {part}.",
            sent=total.input_tokens,
            cached=total.cached_tokens,
            received=total.output_tokens,
            size=fill.total,
            share=most,
            part=fill.largest,
        )

    async def _cheaper(self) -> Sequence[str]:
        now = self._house.model().name
        prices = (await self.facts(now)).prices
        if prices is None:
            return ()
        found = []
        for name in dict.fromkeys((self._economy.fast_model, *self._house.stand_ins)):
            if name and name != now and await self._is_below(name, prices):
                found.append(name)
        return found

    async def _is_below(self, name: str, prices: Prices) -> bool:
        try:
            other = (await self.facts(name)).prices
        except UserError:
            return False  # it cannot be used: there is no key for it
        return other is not None and other.is_below(prices)
