"""What the core asks of a language model, whoever makes it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from pydantic import BaseModel

from agent_cli.core.errors import ModelError, ModelErrorKind
from agent_cli.core.messages import AssistantMessage, Message
from agent_cli.lib.language import tr


class Finish(StrEnum):
    """Why a reply ended."""

    STOP = "stop"
    CALLS = "calls"
    LENGTH = "length"
    FILTER = "filter"


class Usage(BaseModel, frozen=True):
    """What a request used. `cost` is in dollars, None when the price is not known."""

    input_tokens: int = 0
    """All of the prompt, cached or not."""
    output_tokens: int = 0
    cached_tokens: int = 0
    """The part of the input that was read from the provider's cache."""
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float | None = None
    unpriced_tokens: int = 0
    """In a sum: the tokens whose price is not known, which `cost` therefore leaves out."""
    estimated_tokens: int = 0
    """Those that nobody counted: their request ended before the provider said what it used."""

    @property
    def unpriced(self) -> int:
        """How many tokens have no known price."""
        if self.cost is None:
            return self.input_tokens + self.output_tokens
        return self.unpriced_tokens

    def __add__(self, other: "Usage") -> "Usage":
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        sums = {name: n + getattr(other, name) for name, n in self if name != "cost"}
        sums["unpriced_tokens"] = self.unpriced + other.unpriced
        return Usage(**sums, cost=sum(costs) if costs else None)


@dataclass(frozen=True)
class ModelRequest:
    """One request: everything the model is told, in an order that keeps prompt caches warm."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[Mapping[str, Any], ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    """Sampling and the like."""


@dataclass(frozen=True)
class TextChunk:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True)
class ThinkingChunk:
    """A piece of the reasoning."""

    text: str


@dataclass(frozen=True)
class Reply:
    """The whole reply; it comes exactly once, last, and only if the stream ended properly."""

    message: AssistantMessage
    finish: Finish
    usage: Usage = Usage()
    notices: tuple[str, ...] = ()
    """What the user should know about this reply."""
    suggestion: str = ""
    """What the user may well say next; a frontend offers it, and several lines one by one."""


ModelEvent = TextChunk | ThinkingChunk | Reply


@dataclass(frozen=True)
class Prices:
    """Dollars for one token."""

    input: float
    output: float
    cached: float | None = None
    """For one read from the provider's cache; None: like any other."""

    @property
    def saved(self) -> float:
        """What the cache saves for each token it holds."""
        return 0.0 if self.cached is None else max(0.0, self.input - self.cached)

    def cost(self, usage: Usage) -> float:
        """What a request costs at these prices."""
        cached = self.input if self.cached is None else self.cached
        uncached = usage.input_tokens - usage.cached_tokens
        return (
            uncached * self.input + usage.cached_tokens * cached + usage.output_tokens * self.output
        )

    def is_below(self, other: "Prices") -> bool:
        """Whether neither price is higher and one is lower."""
        ours, theirs = (self.input, self.output), (other.input, other.output)
        return ours != theirs and all(a <= b for a, b in zip(ours, theirs, strict=True))


@dataclass(frozen=True)
class ModelFacts:
    """What is known of a model without asking it; None: not known."""

    window: int | None = None
    """How many tokens a request may have."""
    prices: Prices | None = None


class Model(Protocol):
    """A language model. Cancelling the task that iterates ends the request at the provider too."""

    @property
    def name(self) -> str:
        """As the user wrote it: `anthropic/claude-sonnet-4-5`."""

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Send a request. Raises ModelError, at any point before the Reply."""


async def ask_aside(model: Model, request: ModelRequest, received: list[str]) -> Reply:
    """The whole reply to a request nobody watches; `received` gets its pieces as they come.

    Raises ModelError, also if the reply breaks off.
    """
    async with aclosing(model.stream(request)) as events:  # type: ignore[type-var]
        async for event in events:
            if isinstance(event, Reply):
                return event
            received.append(event.text)
    raise ModelError(tr("The model's reply broke off."), kind=ModelErrorKind.CONNECTION)


class Models(Protocol):
    """Where models come from."""

    def get(self, name: str) -> Model:
        """The model of this name; raises UserError if there can be none."""

    async def warm(self, name: str) -> None:
        """Load ahead of time what the first request to this model will need."""

    async def describe(self, name: str) -> ModelFacts:
        """What is known of the model; it may take as long as loading it."""

    async def close(self) -> None:
        """End what runs on behalf of models."""
