"""Counts what requests use, and says so."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from agent_cli.core.context_usage import ContextUsage, TokenScale, measure, tokens
from agent_cli.core.errors import ModelError
from agent_cli.core.events import Event, Notice, UsageChanged
from agent_cli.core.model import ModelFacts, ModelRequest, Models, Usage
from agent_cli.core.money.cache_watch import CacheWatch
from agent_cli.core.money.spending import Spending

MAX_TRIES = 3
"""How often a model that nothing is known of is asked about."""


class KnownModels:
    """What is known of models, asked for once."""

    def __init__(self, models: Models) -> None:
        self._models = models
        self._facts: dict[str, ModelFacts] = {}
        self._tries: Counter[str] = Counter()

    async def facts(self, name: str) -> ModelFacts:
        """What is known of a model; it may take as long as loading it."""
        if name not in self._facts:
            facts = await self._models.describe(name)
            self._tries[name] += 1
            if facts == ModelFacts() and self._tries[name] < MAX_TRIES:
                return facts  # it may be known later
            self._facts[name] = facts
        return self._facts[name]

    def at_hand(self, name: str) -> ModelFacts:
        """What is known of a model already."""
        return self._facts.get(name, ModelFacts())


@dataclass
class Accounting:
    """The session's bookkeeping."""

    known: KnownModels
    reads_files: Callable[[str], bool]
    """Whether the tool of this name gives what a file holds."""
    emit: Callable[[Event], None]
    spending: Spending = field(default_factory=Spending)
    scale: TokenScale = field(default_factory=TokenScale)
    cache: CacheWatch = field(default_factory=CacheWatch)

    async def count(self, model: str, request: ModelRequest, usage: Usage) -> None:
        """A step of the conversation was answered."""
        self.spending.add(model, usage)
        self.emit(UsageChanged(model=model, step=usage, total=self.spending.total))
        if not usage.input_tokens:
            return
        estimated = measure(request, self.reads_files).total
        self.scale.learn(model, estimated, usage.input_tokens)
        if miss := self.cache.see(model, request, usage):
            prices = (await self.known.facts(model)).prices
            self.emit(Notice(level="warning", text=miss.words(prices)))

    def count_aside(self, model: str, usage: Usage) -> None:
        """A model was asked something else than to go on with the conversation."""
        self.spending.add(model, usage, aside=True)
        total = self.spending.total
        self.emit(UsageChanged(model=model, step=usage, total=total, aside=True))

    @asynccontextmanager
    async def watching(self, model: str, request: ModelRequest) -> AsyncIterator[list[str]]:
        """Count a request by estimate that ends before the provider says what it used.

        What arrives is to be put into the list. A request that was refused costs nothing.
        """
        received: list[str] = []
        try:
            yield received
        except (ModelError, asyncio.CancelledError) as error:
            if received or isinstance(error, asyncio.CancelledError):
                self.count_aside(model, await self.estimate(model, request, received))
            raise

    async def estimate(self, model: str, request: ModelRequest, received: Sequence[str]) -> Usage:
        """What a request used by its size, at the model's price if that is known."""
        sent, written = self.fill(model, request).total, sum(map(tokens, received))
        last = self.spending.last
        is_cached = last.cached_tokens or last.cache_write_tokens
        usage = Usage(
            input_tokens=sent,
            output_tokens=written,
            cached_tokens=min(sent, last.input_tokens) if is_cached else 0,
            estimated_tokens=sent + written,
        )
        # Once something has arrived, the model is loaded and its price is known at once.
        facts = await self.known.facts(model) if received else self.known.at_hand(model)
        prices = facts.prices
        return usage.model_copy(update={"cost": prices.cost(usage) if prices else None})

    def fill(self, model: str, request: ModelRequest) -> ContextUsage:
        """What a request would fill the window with, as this model counts."""
        return self.scale.apply(model, measure(request, self.reads_files))
