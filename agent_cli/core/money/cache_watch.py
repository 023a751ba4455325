"""Notices when a provider had to read again what it should have had in its prompt cache."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from agent_cli.core.model import ModelRequest, Prices, Usage
from agent_cli.core.money.pricing import price
from agent_cli.lib.language import tr

MIN_TOKENS_TO_TELL = 2_000
"""Tokens; providers do not cache less than about a thousand."""
CACHE_LIFETIME_S = 300.0
"""Seconds that most providers keep what is not asked for again."""


@dataclass(frozen=True)
class CacheMiss:
    """A cache that was missed."""

    tokens: int
    """How many were read at the full price though they had been cached."""
    seconds: float
    """Since the request before."""

    def words(self, prices: Prices | None) -> str:
        """What happened, what it cost, and why if that can be told."""
        if prices is None or prices.cached is None:
            return tr(
                "The prompt cache was missed: {tokens:,} tokens were read again, "
                "at an unknown extra cost. {why}",
                tokens=self.tokens,
                why=self._why(),
            )
        return tr(
            "The prompt cache was missed: {tokens:,} tokens were read again, "
            "which cost {price} more than from the cache. {why}",
            tokens=self.tokens,
            price=price(Usage(cost=self.tokens * prices.saved)),
            why=self._why(),
        )

    def _why(self) -> str:
        if self.seconds < CACHE_LIFETIME_S:
            return tr("The provider did not say why.")
        return tr("The previous request was {n:.0f} minutes ago.", n=self.seconds / 60)


@dataclass(frozen=True)
class _Sent:
    model: str
    request: ModelRequest
    cached: int
    at: float


class CacheWatch:
    """Compares each request with the one before."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last: _Sent | None = None

    def see(self, model: str, request: ModelRequest, usage: Usage) -> CacheMiss | None:
        """Take note of an answered request; tells if it missed what the last one had cached."""
        before, now = self._last, self._clock()
        held = usage.cached_tokens + usage.cache_write_tokens
        self._last = _Sent(model, request, held, now)
        if before is None or before.model != model or not _continues(before.request, request):
            return None  # nobody could expect a hit
        missed = before.cached - usage.cached_tokens
        if before.cached < MIN_TOKENS_TO_TELL or missed < before.cached / 2:
            return None
        return CacheMiss(missed, now - before.at)


def _continues(before: ModelRequest, now: ModelRequest) -> bool:
    """Whether a request begins with all of the one before."""
    return (
        before.system == now.system
        and before.tools == now.tools
        and before.messages == now.messages[: len(before.messages)]
    )
