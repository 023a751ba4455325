"""Tells an answer from typing that was meant for something else.

A key answers only if the question has been on the screen for a while, if nothing was typed for as
long, and if nothing else is typed right after it: a key in the midst of a word, a sentence begun
without looking, and a paste that arrives as a burst of keys are all typing.
"""

ARM = 0.4
"""Seconds on the screen, and since the last typed key, before a key can answer."""
SETTLE = 0.2
"""Seconds after an answering key in which another key turns it into typing."""

BURST = 0.03
"""Keys closer together than this were not pressed by a hand."""


class TypedAhead:
    """When keys were pressed, and whether the next one may answer."""

    def __init__(self, *, arm: float = ARM, settle: float = SETTLE) -> None:
        self.arm = arm
        self.settle = settle
        self._quiet_since: float | None = None

    def mark_painted(self, now: float) -> None:
        """The question can be read from now on."""
        self._quiet_since = now

    @property
    def is_painted(self) -> bool:
        return self._quiet_since is not None

    def may_answer(self, when: float) -> bool:
        """Whether a key pressed at this time was pressed in view of the question."""
        return self._quiet_since is not None and when - self._quiet_since >= self.arm

    def mark_typed(self, when: float) -> None:
        """A key was pressed that is no answer; a new quiet time begins."""
        if self._quiet_since is not None:
            self._quiet_since = max(self._quiet_since, when)
