"""Requests of a session as modals: which one asks, what it is called, what leaving it means."""

from typing import Any

from textual.app import App
from textual.screen import Screen

from agent_cli.core.inbox import (
    Answer,
    ApprovalRequest,
    PlanRequest,
    QuestionRequest,
    Request,
)
from agent_cli.core.session import Session
from agent_cli.frontends.shared.briefing import where
from agent_cli.controller.requests import refusal, request_title
from agent_cli.frontends.tui.modals.approval import ApprovalModal
from agent_cli.frontends.tui.modals.plan import PlanModal
from agent_cli.frontends.tui.modals.question import QuestionModal
from agent_cli.frontends.tui.notify import notify_terminal
from agent_cli.frontends.tui.scribe import Scribe
from agent_cli.frontends.tui.working import WorkingLine
from agent_cli.lib.language import tr


class Questions:
    """What waits for the person, one modal at a time."""

    def __init__(
        self, app: App[Any], session: Session, scribe: Scribe, working: WorkingLine
    ) -> None:
        self._app = app
        self._session = session
        self._scribe = scribe
        self._working = working
        self._waiting: list[Request] = []
        self._asking: Screen[Any] | None = None

    def add(self, request: Request) -> None:
        """Ask this, after what was asked before."""
        self._waiting.append(request)
        self._ask_next()

    def drop(self) -> None:
        """What was asked in a turn that is over needs no answer; anything else gets a no."""
        for request in self._waiting:
            self._session.reply(request.id, refusal(request))
        self._waiting.clear()
        if self._asking is not None and self._asking.is_current:  # not while the app is leaving
            self._asking.dismiss(None)

    def _ask_next(self) -> None:
        if self._asking is not None or not self._waiting:
            return
        request = self._waiting[0]
        self._scribe.asking(request.call_id)
        self._working.wait()
        self._asking = modal_for(request, len(self._waiting))
        notify_terminal(self._app, tr("agent needs you"), request_title(request))
        self._app.push_screen(self._asking, self._answered)

    def _answered(self, answer: Answer | None) -> None:
        self._asking = None
        self._working.go_on()
        if not self._waiting:
            return
        request = self._waiting.pop(0)
        self._scribe.resumed(request.call_id)
        self._session.reply(request.id, answer or refusal(request))
        self._ask_next()


def modal_for(request: Request, total: int) -> Screen[Any]:
    """What asks the person; `total` requests wait with this one."""
    match request:
        case ApprovalRequest():
            return ApprovalModal(request, runs=where(request), total=total)
        case QuestionRequest():
            return QuestionModal(request)
        case PlanRequest():
            return PlanModal(request.plan)
