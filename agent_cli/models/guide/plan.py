"""How the guide goes about a wish: a generator that yields what to do and hears what came of it.

The guide keeps nothing between requests. Like any model it gets the whole conversation each time,
and plays its plans again from the beginning to find out where it stands.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Call:
    """A tool call to make."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What came of a call."""

    text: str
    is_error: bool = False


@dataclass(frozen=True)
class Act:
    """Make these calls; hears their outcomes, in order."""

    calls: Sequence[Call]
    text: str = ""


@dataclass(frozen=True)
class Wait:
    """End the turn with this text; hears nothing, and goes on when the person says so."""

    text: str
    hint: str
    """How to go on: said only where somebody can."""
    suggestion: str
    """What the person may say to go on."""


@dataclass(frozen=True)
class Answer:
    """The end of a plan."""

    text: str
    suggestion: str = ""


Move = Act | Wait | Answer
Plan = Generator[Act | Wait, Sequence[Outcome], Answer]


@dataclass
class Play:
    """A plan under way."""

    plan: Plan
    move: Move = field(init=False)

    def __post_init__(self) -> None:
        self.move = self._after(lambda: next(self.plan))

    def hear(self, outcomes: Sequence[Outcome]) -> None:
        """Go on from the outcomes of the calls that were made."""
        if isinstance(self.move, Act) and len(outcomes) == len(self.move.calls):
            self.move = self._after(lambda: self.plan.send(outcomes))

    def go_on(self) -> None:
        """Go on from a pause."""
        if isinstance(self.move, Wait):
            self.move = self._after(lambda: self.plan.send(()))

    @staticmethod
    def _after(step: Callable[[], Act | Wait]) -> Move:
        try:
            return step()
        except StopIteration as end:
            answer: Answer = end.value
            return answer
