"""What reads like a turn to whoever follows its events, though no model leads it."""

from __future__ import annotations

import asyncio
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

from agent_cli.core.errors import internal_error
from agent_cli.core.events import Event, FinishReason, TurnFinished, TurnStarted
from agent_cli.core.undo.turn_receipt import Receipt
from agent_cli.lib.language import tr

log = logging.getLogger(__name__)


@dataclass(kw_only=True)
class SideTurn(ABC):
    """Something the user asked for, played as a turn of its own."""

    number: int
    session_id: str
    model: str
    emit: Callable[[Event], None]
    _started: float = field(default_factory=time.monotonic)

    @property
    @abstractmethod
    def prompt(self) -> str:
        """What the user typed."""

    @abstractmethod
    async def work(self) -> None:
        """Do it."""

    def on_interrupt(self) -> None:  # noqa: B027 (most have nothing to do)
        """Called when it is interrupted, before its last event."""

    def receipt(self) -> Receipt:
        """What it changed."""
        return Receipt()

    async def run(self) -> None:
        """Do it; the last event is TurnFinished, whatever happens."""
        self.emit(
            TurnStarted(
                session_id=self.session_id, turn=self.number, prompt=self.prompt, model=self.model
            )
        )
        try:
            await self.work()
        except asyncio.CancelledError:
            self.on_interrupt()
            self._finish("interrupted")
            raise
        except Exception as error:
            log.exception("%s failed", type(self).__name__)
            self._finish("failed", error=internal_error(error), hint=tr("See the log."))
        else:
            self._finish("done")

    def _finish(self, reason: FinishReason, error: str = "", hint: str = "") -> None:
        self.emit(
            TurnFinished(
                turn=self.number,
                reason=reason,
                error=error,
                hint=hint,
                seconds=time.monotonic() - self._started,
                receipt=self.receipt(),
            )
        )
