"""What a session asks, put to the person one after the other."""

import asyncio

from rich.text import Text

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
from agent_cli.frontends.repl import drawing
from agent_cli.frontends.repl.stage import Stage
from agent_cli.frontends.shared import answers as words
from agent_cli.frontends.shared import asking, requests
from agent_cli.frontends.shared.briefing import one_line, where
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import visible


class Asking:
    """One question at a time: the others wait."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._turn = asyncio.Lock()

    async def ask(self, request: Request) -> Answer:
        """The person's answer; what is printed meanwhile waits until it is given."""
        async with self._turn:
            match request:
                case ApprovalRequest():
                    return await self._approval(request)
                case QuestionRequest():
                    return await self._questions(request)
                case PlanRequest():
                    return await self._plan(request)

    async def trust(self, folder: str, enables: tuple[str, ...]) -> bool:
        """Whether a folder is trusted."""
        lines = [Text(one_line(folder), drawing.STRONG), Text(tr(words.TRUST_MEANING))]
        if enables:
            lines.append(Text(tr(words.TRUST_ENABLES)))
            lines += [Text(f"  {self._stage.signs.bullet} {one_line(each)}") for each in enables]
        return await self._confirmed(lines, tr(words.TRUST_HEADING), words.trust_answers())

    async def confirm(self, message: str, heading: str, answers: tuple[words.Answer, ...]) -> bool:
        """Whether the person says yes to something of the program's own."""
        return await self._confirmed([Text(one_line(message))], heading, answers)

    async def _confirmed(
        self, lines: list[Text], heading: str, answers: tuple[words.Answer, ...]
    ) -> bool:
        self._stage.paper.put(*lines)
        with self._stage.paper.held():
            return await self._stage.choose(heading, answers) == "yes"

    async def _approval(self, request: ApprovalRequest) -> Approval:
        stage = self._stage
        heading = requests.approval_heading(request)
        stage.paper.put(Text(""), drawing.approval(request, where(request), stage.signs))
        with stage.paper.held():
            while True:
                match await stage.choose(heading, requests.approval_answers(request)):
                    case "because":
                        reason = await stage.line(tr(words.WHY_NOT))
                        if reason is not None:
                            return Approval(reason=reason)
                    case answer:
                        return asking.approval(answer)

    async def _plan(self, request: PlanRequest) -> PlanAnswer:
        stage, plan = self._stage, request.plan
        while True:
            stage.paper.put(Text(""), *(Text(line) for line in visible(plan).split("\n")))
            with stage.paper.held():
                answer = await self._plan_answer(plan)
                if answer is not None:
                    return answer
                plan = await stage.edit(plan) or plan

    async def _plan_answer(self, plan: str) -> PlanAnswer | None:
        """None: the plan shall be edited."""
        while True:
            match await self._stage.choose(tr(words.PLAN_HEADING), requests.plan_answers()):
                case "because":
                    reason = await self._stage.line(tr(words.WHAT_CHANGES))
                    if reason is not None:
                        return PlanAnswer(plan=plan, reason=reason)
                case "edit":
                    return None
                case answer:
                    return asking.plan_answer(answer, plan)

    async def _questions(self, request: QuestionRequest) -> Answers:
        given: list[str] = []
        total = len(request.questions)
        heading = requests.question_heading(request)
        for number, question in enumerate(request.questions, 1):
            corner = tr("  {number} of {total}", number=number, total=total) if total > 1 else ""
            self._stage.paper.put(Text(""), *map(Text, visible(question.text).split("\n")))
            with self._stage.paper.held():
                given.append(await self._question(f"{heading}{corner}", question))
        return Answers(answers=tuple(given))

    async def _question(self, heading: str, question: Question) -> str:
        stage = self._stage
        return await asking.answered(
            question,
            lambda offered: stage.choose(heading, offered, leave="skip"),
            lambda: stage.line(tr(words.YOUR_ANSWER)),
        )
