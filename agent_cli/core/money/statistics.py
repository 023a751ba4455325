"""What was counted over all sessions, as data."""

from pydantic import BaseModel

from agent_cli.core.model import Usage

BOUNDS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
"""Seconds: the upper ends of the groups that durations are counted in; one more is open."""


class Counts(BaseModel, frozen=True):
    """The base of all counts."""


class ToolCounts(Counts):
    """The calls of one tool."""

    tool: str
    executions: int = 0
    successes: int = 0
    failures: int = 0
    denials: int = 0
    """Those of the failures for which a permission was missing."""
    seconds: float = 0.0
    durations: tuple[int, ...] = (0,) * (len(BOUNDS) + 1)
    """How many took at most as long as each of the bounds, and longer than the one before."""

    def within(self, share: float) -> float | None:
        """Seconds within which this share of the calls ended; None: longer than any bound."""
        wanted, seen = share * sum(self.durations), 0
        for bound, count in zip(BOUNDS, self.durations, strict=False):
            seen += count
            if seen >= wanted:
                return bound
        return None


class ModelCounts(Counts):
    """The requests to one model."""

    model: str
    requests: int = 0
    usage: Usage = Usage()


class DayCounts(Counts):
    """One day."""

    day: str
    calls: int = 0
    requests: int = 0
    usage: Usage = Usage()


class Statistics(Counts):
    """Everything that was counted."""

    since: str = ""
    """The first day; empty: from the beginning."""
    tools: tuple[ToolCounts, ...] = ()
    models: tuple[ModelCounts, ...] = ()
    days: tuple[DayCounts, ...] = ()
    registry_size: int | None = None
    """How many tools there were when last counted."""
