"""When and how a failed model request is made again: the one place where retries happen."""

import random
from dataclasses import dataclass

from agent_cli.core.errors import ModelError

MAX_WAIT_S = 60.0
"""Seconds; a provider that wants more is reported instead of waited for."""


@dataclass(frozen=True)
class RetryPolicy:
    """Capped exponential backoff with jitter."""

    attempts: int = 5
    first_delay: float = 0.5
    longest_delay: float = 20.0

    def delay(self, error: ModelError, attempt: int) -> float | None:
        """Seconds to wait after failed attempt number `attempt` (from 1); None: give up."""
        if not error.retryable or attempt >= self.attempts:
            return None
        if error.retry_after is not None:
            return None if error.retry_after > MAX_WAIT_S else max(0.0, error.retry_after)
        ceiling = min(self.longest_delay, self.first_delay * 2 ** (attempt - 1))
        return random.uniform(ceiling / 2, ceiling)
