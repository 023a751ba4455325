"""How long a turn takes and how fast the model speaks."""

import time
from collections.abc import Callable

_A_TOKEN = 4
"""Characters, roughly; the provider's count takes the place of the guess after each step."""
_TOO_SHORT = 0.5
"""Seconds of speech from which a speed can be told."""


class Meter:
    """Counts during a turn; between turns it shows nothing."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._turn: float | None = None
        self._step: float | None = None
        self._characters = 0
        self._speed: float | None = None

    def start(self) -> None:
        """A turn begins."""
        self._turn, self._step, self._characters, self._speed = self._clock(), None, 0, None

    def stop(self) -> None:
        """The turn is over."""
        self._turn = self._step = self._speed = None

    def add_text(self, text: str) -> None:
        """The model said something."""
        if self._step is None:
            self._step, self._characters = self._clock(), 0
        self._characters += len(text)

    def set_tokens(self, tokens: int) -> None:
        """A step is over, and the provider says how many tokens it gave."""
        if tokens and (seconds := self._speaking()):
            self._speed = tokens / seconds
        self._step = None

    @property
    def elapsed(self) -> float | None:
        """Seconds of the turn under way."""
        return None if self._turn is None else self._clock() - self._turn

    @property
    def tokens_per_second(self) -> float | None:
        """Of the step under way or, while tools run, of the last one."""
        if seconds := self._speaking():
            return self._characters / _A_TOKEN / seconds
        return self._speed

    def _speaking(self) -> float | None:
        if self._step is None or (seconds := self._clock() - self._step) < _TOO_SHORT:
            return None
        return seconds
