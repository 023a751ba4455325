"""Asks the user about an extension, outside of any call."""

from collections.abc import Callable
from typing import Protocol

from agent_cli.core.display import Display
from agent_cli.core.events import Event
from agent_cli.core.inbox import ApprovalRequest, Inbox
from agent_cli.safety.reasons import Reason


class Asker(Protocol):
    """Somebody who can be asked."""

    async def agrees(
        self, what: str, preview: Display, reasons: tuple[Reason, ...], odd: tuple[Reason, ...] = ()
    ) -> bool:
        """Whether they say a clear yes."""
        ...


class InboxAsker:
    """Whoever sits in front of the session, if anybody does."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self.tell: Callable[[Event], None] = lambda _event: None

    async def agrees(
        self, what: str, preview: Display, reasons: tuple[Reason, ...], odd: tuple[Reason, ...] = ()
    ) -> bool:
        """Whether the user says a clear yes; where nobody is, it is a no."""
        if not self._inbox.attended:
            return False
        request_id = self._inbox.next_id()
        request = ApprovalRequest(
            id=request_id,
            call_id=request_id,
            tool=what,
            title="",
            reasons=reasons,
            preview=preview,
            odd=odd,
        )
        answer = await self._inbox.approval(request, self.tell)
        return answer.answer != "no"
