"""What a session has used: in all, by model, by turn and by day."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Self

from agent_cli.core.events import TurnStarted
from agent_cli.core.log.history import History
from agent_cli.core.model import Usage


def local_day() -> date:
    """Today, where the user is."""
    return datetime.now().astimezone().date()


@dataclass
class Account:
    """Requests and what they used."""

    requests: int = 0
    usage: Usage = field(default_factory=Usage)

    def add(self, usage: Usage) -> None:
        """Count one more request."""
        self.requests += 1
        self.usage += usage


@dataclass
class TurnAccount(Account):
    """One turn's requests, and the models that answered them."""

    number: int = 0
    models: list[str] = field(default_factory=list)


@dataclass
class Spending:
    """The session's accounts; a request is counted once in each of them."""

    total: Usage = field(default_factory=Usage)
    last: Usage = field(default_factory=Usage)
    """The latest request of the conversation itself, or what a compaction left of it: how full the
    window is."""
    models: dict[str, Account] = field(default_factory=dict)
    turns: list[TurnAccount] = field(default_factory=list)
    today: Callable[[], date] = local_day
    _days: dict[date, float] = field(default_factory=dict)

    @classmethod
    def from_history(cls, history: History) -> Self:
        """What a session used according to its log; what of it was today is known elsewhere."""
        spending = cls()
        for event in history.counted:
            if isinstance(event, TurnStarted):
                spending.begin_turn(event.turn)
            else:
                spending._count(event.model, event.step)
        spending.last = history.last
        return spending

    def begin_turn(self, number: int) -> None:
        """What follows belongs to this turn."""
        self.turns.append(TurnAccount(number=number))

    def add(self, model: str, usage: Usage, *, aside: bool = False) -> None:
        """Count a request; `aside`: it was not the conversation itself that was sent."""
        if not aside:
            self.last = usage
        if usage.cost:
            day = self.today()
            self._days[day] = self._days.get(day, 0.0) + usage.cost
        self._count(model, usage)

    def _count(self, model: str, usage: Usage) -> None:
        self.total += usage
        self.models.setdefault(model, Account()).add(usage)
        if self.turns:
            turn = self.turns[-1]
            turn.add(usage)
            if model not in turn.models:
                turn.models.append(model)

    @property
    def dollars(self) -> float:
        """What is known to have been spent."""
        return self.total.cost or 0.0

    @property
    def dollars_today(self) -> float:
        """What of it was spent today."""
        return self._days.get(self.today(), 0.0)
