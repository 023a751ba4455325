"""How the guide carries out a request: a generator that yields moves and hears their outcomes.

The guide keeps nothing between requests. Like any model it gets the whole conversation each time,
and plays its plans again from the beginning to find out where it is.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Outcome:
    """What came of a call."""

    text: str
    is_error: bool = False
    is_declined: bool = False


@dataclass(frozen=True)
class Act:
    """Make this call; hears its outcome."""

    tool: str
    arguments: Mapping[str, object]
    text: str = ""


@dataclass(frozen=True)
class FinalText:
    """End the turn with this text."""

    text: str
    suggestion: str = ""
    """What the user may say next."""
    hint: str = ""
    """How to continue: said only where somebody can. With a hint, the plan isn't over."""


Move = Act | FinalText
Plan = Generator[Move, Outcome, FinalText]


@dataclass
class Play:
    """A plan under way."""

    plan: Plan
    move: Move = field(init=False)

    def __post_init__(self) -> None:
        self._step(lambda: next(self.plan))

    def hear(self, outcome: Outcome) -> None:
        """Continue from the outcome of the call that was made."""
        if isinstance(self.move, Act):
            self._step(lambda: self.plan.send(outcome))

    @property
    def is_paused(self) -> bool:
        """Whether it waits for the user to say `next`."""
        return isinstance(self.move, FinalText) and bool(self.move.hint)

    def resume(self) -> None:
        """Continue from a pause."""
        if self.is_paused:
            self._step(lambda: next(self.plan))

    def _step(self, step: Callable[[], Move]) -> None:
        try:
            self.move = step()
        except StopIteration as end:
            self.move = end.value
