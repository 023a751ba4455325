"""One statement to run, and within which bounds."""

import threading
import time
from dataclasses import dataclass, field

from agent_cli.core.errors import FailureType, ToolFailure


@dataclass(frozen=True)
class Statement:
    """What a database is asked."""

    query: str
    is_write: bool
    most_rows: int
    seconds: float
    cancelled: threading.Event
    started: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        """Seconds that it may still take."""
        return self.seconds - (time.monotonic() - self.started)

    @property
    def is_over(self) -> bool:
        """Whether nobody wants the answer any more."""
        return self.cancelled.is_set() or self.left <= 0

    def too_long(self) -> ToolFailure:
        """What is told when it was stopped."""
        return ToolFailure(
            f"The query was stopped after {self.seconds:g} s. Ask for less: use a "
            "narrower condition, an indexed column, or end the recursion.",
            type=FailureType.TIMEOUT,
        )
