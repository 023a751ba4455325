"""Runs one turn at a time as a task of its own, and hands out its events as they come."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

from agent_cli.core.errors import UserError, internal_error
from agent_cli.core.events import Event, TurnFinished
from agent_cli.lib.language import tr

log = logging.getLogger(__name__)


class TurnRunner:
    """The turn that runs, if one does."""

    def __init__(self, turns: int) -> None:
        self.turns = turns
        """How many turns there were, with the one that runs."""
        self._task: asyncio.Task[None] | None = None
        self._events: asyncio.Queue[Event | None] | None = None

    @property
    def is_running(self) -> bool:
        """Whether a turn runs, or its events are still being read."""
        return self._task is not None

    def emit(self, event: Event) -> None:
        """Hand out an event; without a turn nobody follows."""
        if self._events is not None:
            self._events.put_nowait(event)

    async def follow(
        self,
        begin: Callable[[], Coroutine[Any, Any, None]],
        end: Callable[[], None],
        tell: Callable[[Event], None],
    ) -> AsyncGenerator[Event, None]:
        """The events of a turn; the last one is TurnFinished, even if the turn cannot say it.

        `tell` keeps an event and emits it.
        """
        self.refuse_while_running()
        self.turns += 1
        events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._events = events
        self._task = task = asyncio.create_task(begin())
        task.add_done_callback(lambda _task: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield event
                if isinstance(event, TurnFinished):
                    return
            yield self._list_unfinished(task, tell)
        finally:
            await self.cancel()
            self._task = self._events = None
            end()

    def interrupt(self) -> bool:
        """End the turn at once; False if none runs."""
        if self._task is None:
            return False
        # Not sooner than its first step: what never began could not say how it ended.
        asyncio.get_running_loop().call_soon(self._task.cancel)
        return True

    async def cancel(self) -> None:
        """End the turn, and wait until it has ended."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    def refuse_while_running(self) -> None:
        """Raise UserError if a turn runs."""
        if self.is_running:
            raise UserError(tr("The agent is still working."), hint=tr("Interrupt it or wait."))

    def _list_unfinished(
        self, task: asyncio.Task[None], tell: Callable[[Event], None]
    ) -> TurnFinished:
        """The end of a turn that is over without having said so."""
        end = TurnFinished(turn=self.turns, reason="interrupted")
        error = None if task.cancelled() else task.exception()
        if error is not None:
            log.error("the turn could not be ended", exc_info=error)
            what, hint = internal_error(error), tr("See the log.")
            end = TurnFinished(turn=self.turns, reason="failed", error=what, hint=hint)
        try:
            tell(end)
        except Exception:  # what keeps events may be what failed
            log.exception("the end of the turn could not be kept")
        return end
