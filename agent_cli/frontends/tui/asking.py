"""Requests of a session as modals: which one asks, what it is called, what leaving it means."""

from typing import Any

from textual.screen import Screen

from agent_cli.core.inbox import (
    Answer,
    Answers,
    Approval,
    ApprovalRequest,
    PlanAnswer,
    PlanRequest,
    QuestionRequest,
    Request,
)
from agent_cli.frontends.tui.modals.approval import ApprovalModal
from agent_cli.frontends.tui.modals.plan import PlanModal
from agent_cli.frontends.tui.modals.question import QuestionModal


def modal_for(request: Request, total: int) -> Screen[Any]:
    """What asks the person; `total` requests wait with this one."""
    match request:
        case ApprovalRequest():
            return ApprovalModal(request, runs=_where(request), total=total)
        case QuestionRequest():
            return QuestionModal(request)
        case PlanRequest():
            return PlanModal(request.plan)


def request_title(request: Request) -> str:
    """What is asked, in a few words."""
    match request:
        case ApprovalRequest():
            return f"{request.tool} {request.title}"
        case QuestionRequest():
            return request.questions[0].text if request.questions else ""
        case PlanRequest():
            return "a plan to approve"


def refusal(request: Request) -> Answer:
    """What it means to leave a modal without an answer."""
    match request:
        case ApprovalRequest():
            return Approval()
        case QuestionRequest():
            return Answers(answers=())
        case PlanRequest():
            return PlanAnswer()


def _where(request: ApprovalRequest) -> str:
    """Where a command would run; of a change to a file there is nothing to say."""
    return f"without a sandbox, in {request.directory}" if request.steps else ""
