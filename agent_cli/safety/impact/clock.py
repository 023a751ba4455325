"""The time that counting may take."""

import threading
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from agent_cli.safety.reasons import ReasonedError

T = TypeVar("T")
_LOOK_EVERY = 64


class NotCounted(ReasonedError):
    """Something cannot be counted."""


class Clock:
    """Runs out after some seconds, or at once when it is stopped."""

    def __init__(self, seconds: float, stopped: threading.Event | None = None) -> None:
        self._until = time.monotonic() + seconds
        self._stopped = stopped or threading.Event()

    @property
    def left(self) -> float:
        """Seconds that remain."""
        return 0.0 if self._stopped.is_set() else max(0.0, self._until - time.monotonic())

    @property
    def is_over(self) -> bool:
        return self.left == 0.0

    def share(self, parts: int) -> "Clock":
        """A clock for one of so many parts of what remains."""
        return Clock(self.left / max(1, parts), self._stopped)

    def within(self, things: Iterable[T]) -> Iterator[T]:
        """The things while time remains; a few in any case."""
        for number, thing in enumerate(things):
            if number % _LOOK_EVERY == 0 and number and self.is_over:
                return
            yield thing

    def stop(self) -> None:
        """Let nobody start anything more."""
        self._stopped.set()
