"""Updates on their way to the editor, in the order they were put in."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from agent_cli.frontends.acp.updates import Update

log = logging.getLogger(__name__)


class Outbox:
    """Takes updates at once and sends one after the other."""

    def __init__(
        self,
        send: Callable[[Update], Awaitable[None]],
        start: Callable[[Coroutine[Any, Any, None]], object],
    ) -> None:
        self._send = send
        self._start = start
        self._waiting: deque[Update] = deque()
        self._lock = asyncio.Lock()
        self._is_sending = False
        self._is_closed = False

    def put(self, update: Update) -> None:
        """Send it after those before it."""
        if self._is_closed:
            return
        self._waiting.append(update)
        if not self._is_sending:
            self._is_sending = True
            self._start(self._send_all())

    async def flush(self) -> None:
        """Wait until everything is sent."""
        async with self._lock:
            while self._waiting:
                try:
                    await self._send(self._waiting.popleft())
                except ConnectionError:  # the editor is gone, and so are we in a moment
                    self._is_closed = True
                    self._waiting.clear()
                except Exception:  # the next one may be sent
                    log.exception("an update could not be sent")

    async def _send_all(self) -> None:
        try:
            await self.flush()
        finally:
            self._is_sending = False
