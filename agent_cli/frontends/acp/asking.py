"""What a session asks, put to the person by the editor's own dialogue for permissions.

It offers answers to choose from, no words of one's own: a refusal carries no reason, and a question
is answered by what it offers or not at all, unless the editor can show a form.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from acp import RequestError
from acp.interfaces import Client
from acp.schema import (
    AcceptElicitationResponse,
    AllowedOutcome,
    ElicitationFormSessionMode,
    PermissionOption,
    PermissionOptionKind,
    ToolCallUpdate,
    ToolKind,
)
from pydantic import ValidationError

from agent_cli.core.inbox import (
    Answer,
    Answers,
    Approval,
    ApprovalRequest,
    PlanAnswer,
    PlanRequest,
    Question,
    QuestionRequest,
    Request,
)
from agent_cli.frontends.acp import blocks
from agent_cli.frontends.acp.forms import filled, form
from agent_cli.frontends.shared import asking, briefing
from agent_cli.frontends.shared import requests as words
from agent_cli.frontends.shared.answers import PLAN_HEADING
from agent_cli.frontends.shared.answers import Answer as Offered
from agent_cli.lib.language import mark, tr
from agent_cli.safety.paths import Workspace

log = logging.getLogger(__name__)

_KINDS: dict[str, PermissionOptionKind] = {
    "session": "allow_always",
    "project": "allow_always",
    "no": "reject_once",
    "keep": "reject_once",
    "skip": "reject_once",
}
_WORDS_NEEDED = ("because", "edit", "own")
"""Answers that would need a line of text."""
_ANSWER_LATER = mark(
    "To answer in your own words, choose “No answer” and write them as your next message."
)


class Cancelled(Exception):
    """The person ended the turn instead of answering."""


class Asking:
    """Asks one person about one session."""

    def __init__(
        self, client: Client, session_id: str, workspace: Workspace, *, has_forms: bool = False
    ) -> None:
        self._client = client
        self._has_forms = has_forms
        self._session_id = session_id
        self._workspace = workspace

    async def ask(self, request: Request, kind: ToolKind) -> Answer:
        """The person's answer; where nothing can be asked, a refusal. Raises Cancelled."""
        try:
            match request:
                case ApprovalRequest():
                    return await self._approval(request, kind)
                case QuestionRequest():
                    return await self._questions(request)
                case PlanRequest():
                    return await self._plan(request)
        except (RequestError, ValidationError) as error:
            log.warning("the editor could not ask: %s", error)
            return words.refusal(request)

    async def choose(
        self,
        call_id: str,
        heading: str,
        offered: Iterable[Offered],
        content: Sequence[blocks.Shown] = (),
        kind: ToolKind = "other",
    ) -> str:
        """The id of the answer that was given; empty: none of them. Raises Cancelled."""
        given = [answer for answer in offered if answer.id not in _WORDS_NEEDED]
        call = ToolCallUpdate(
            tool_call_id=call_id, title=heading, kind=kind, status="pending", content=list(content)
        )
        response = await self._client.request_permission(
            session_id=self._session_id, tool_call=call, options=[_option(each) for each in given]
        )
        if not isinstance(response.outcome, AllowedOutcome):
            raise Cancelled
        chosen = response.outcome.option_id
        return chosen if any(chosen == answer.id for answer in given) else ""

    async def _approval(self, request: ApprovalRequest, kind: ToolKind) -> Approval:
        title = briefing.one_line(words.request_title(request))
        offered = sorted(words.approval_answers(request), key=lambda answer: answer.id == "no")
        content = list(self._told(request))
        return asking.approval(await self.choose(request.call_id, title, offered, content, kind))

    def _told(self, request: ApprovalRequest) -> Iterator[blocks.Shown]:
        """Everything the person needs to know to decide."""
        if request.preview is not None:
            yield from blocks.shown(request.preview, self._workspace)
        lines = [f"{tr(briefing.BEWARE)}: {text}" for text in briefing.warnings(request)]
        for step in briefing.told_steps(request):
            told = f"{step.label}: {step.text}"
            lines.append(told if step.text else step.label)
        label = ""
        for fact in briefing.facts(request, briefing.where(request)):
            label = fact.label or label
            lines.append(f"{label}: {fact.text}")
        if said := briefing.said(request):
            lines.append(f"{tr(briefing.MODEL_SAYS)}: {said}")
        if lines:
            yield blocks.said(blocks.fenced("\n".join(lines)))  # nothing in it is Markdown

    async def _plan(self, request: PlanRequest) -> PlanAnswer:
        content = [blocks.said(blocks.plain(request.plan))]
        offered = sorted(words.plan_answers(), key=lambda answer: answer.id == "keep")
        heading = tr(PLAN_HEADING)
        return asking.plan_answer(
            await self.choose(request.call_id, heading, offered, content, "switch_mode")
        )

    async def _questions(self, request: QuestionRequest) -> Answers:
        if self._has_forms:
            with suppress(RequestError, ValidationError):
                return await self._form(request)
        call_id = request.call_id or request.id
        given = [await self._question(call_id, question) for question in request.questions]
        return Answers(answers=tuple(given))

    async def _form(self, request: QuestionRequest) -> Answers:
        mode = ElicitationFormSessionMode(
            session_id=self._session_id,
            tool_call_id=request.call_id or None,
            requested_schema=form(request.questions),
        )
        response = await self._client.create_elicitation(words.question_heading(request), mode)
        if not isinstance(response, AcceptElicitationResponse):
            return Answers(answers=("",) * len(request.questions))
        return Answers(answers=filled(request.questions, response.content or {}))

    async def _question(self, call_id: str, question: Question) -> str:
        heading, _, more = question.text.partition("\n")
        content = [blocks.said(blocks.plain(question.text))] if more else []
        content += [blocks.said(tr(_ANSWER_LATER))] if question.is_open else []
        heading = briefing.one_line(heading)
        return await asking.answered(
            question, lambda offered: self.choose(call_id, heading, offered, content)
        )


def _option(answer: Offered) -> PermissionOption:
    name = answer.label
    if answer.note:
        name = f"{name}: {answer.note}"
    return PermissionOption(
        option_id=answer.id, name=name, kind=_KINDS.get(answer.id, "allow_once")
    )
