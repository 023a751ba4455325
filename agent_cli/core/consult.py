"""Questions the program asks on its own account."""

from collections.abc import Callable

from agent_cli.core.events import Event
from agent_cli.core.inbox import Inbox, Question, QuestionRequest


async def consult(inbox: Inbox, emit: Callable[[Event], None], question: Question) -> str | None:
    """The user's answer; None where there is nobody to ask."""
    if not inbox.attended:
        return None
    request = QuestionRequest(id=inbox.next_id(), call_id="", questions=(question,), by="program")
    given = await inbox.answers(request, emit)
    return given.answers[0]
