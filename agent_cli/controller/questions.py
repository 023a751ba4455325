"""What a session asks, put to the user one after the other, each answered by its id."""

import asyncio
from collections.abc import Callable

from agent_cli.controller.background import Background
from agent_cli.controller.requests import refusal
from agent_cli.controller.view import View
from agent_cli.controller.wording import number_of
from agent_cli.core.inbox import Request
from agent_cli.core.session import Session
from agent_cli.lib.language import tr


class Questions:
    """Open questions; one that the session withdraws disappears from the view."""

    def __init__(
        self,
        session: Session,
        view: View,
        background: Background,
        answered: Callable[[], None],
    ) -> None:
        self._session = session
        self._view = view
        self._background = background
        self._answered = answered
        self._open: dict[str, asyncio.Task[None]] = {}
        self._turn = asyncio.Lock()
        self._asked = 0
        """Of those asked side by side, how many were put to the user."""

    @property
    def count(self) -> int:
        """How many questions wait, the one on the screen included."""
        return len(self._open)

    @property
    def position(self) -> str:
        """ "2 of 6": which of those asked side by side is on the screen; empty if it is alone."""
        total = self._asked + self.count - 1
        return number_of(self._asked, total) if total > 1 else ""

    def ask(self, request: Request) -> None:
        """Ask this after what was asked before."""
        if not self._open:
            self._asked = 0
        if request.id not in self._open:
            self._open[request.id] = self._background.start(
                self._ask(request), tr("A question could not be asked")
            )

    def withdraw(self, request_id: str) -> None:
        """It needs no answer any more: it was settled otherwise, or its call is over."""
        if task := self._open.pop(request_id, None):
            task.cancel()

    def drop_settled(self) -> None:
        """Withdraw whatever the session does not wait for any more."""
        waiting = {request.id for request in self._session.waiting}
        for request_id in [each for each in self._open if each not in waiting]:
            self.withdraw(request_id)

    def decline_all(self) -> None:
        """Answer whatever is asked with a no."""
        for request in self._session.waiting:
            self._session.reply(request.id, refusal(request))
        self.drop_settled()

    async def _ask(self, request: Request) -> None:
        answer = refusal(request)
        try:
            async with self._turn:
                self._asked += 1
                answer = await self._view.ask(request)
        finally:  # what cannot be asked must not wait forever
            if self._open.pop(request.id, None):
                self._session.reply(request.id, answer)
                self._answered()
