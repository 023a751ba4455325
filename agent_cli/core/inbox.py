"""Questions that wait for the user, and answers that come back by id.

A keypress, a JSON line and an editor's response all end in `reply(request_id, answer)`.
"""

import asyncio
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, PlainSerializer

from agent_cli.core.display import Display
from agent_cli.safety.reasons import Reason, quote_value


def _as_reason(value: Any) -> Any:
    return quote_value(value) if isinstance(value, str) and value else value or None


def _as_reasons(value: Any) -> Any:
    texts = (value,) if isinstance(value, str) else value or ()
    return tuple(each for each in map(_as_reason, texts) if each is not None)


# In JSON reasons are English texts, as `codes` says beside them.
Reasons = Annotated[
    tuple[Reason, ...],
    BeforeValidator(_as_reasons),
    PlainSerializer(lambda reasons: [str(reason) for reason in reasons], when_used="json"),
]
Note = Annotated[
    tuple[Reason, ...],
    BeforeValidator(_as_reasons),
    PlainSerializer(lambda reasons: "; ".join(map(str, reasons)), when_used="json"),
]

if TYPE_CHECKING:
    from agent_cli.core.events import Event


class Choice(BaseModel, frozen=True):
    """One offered answer to a question."""

    label: str
    description: str = ""


class Question(BaseModel, frozen=True):
    """Something the model wants to know from the user."""

    text: str
    choices: tuple[Choice, ...] = ()
    multiple: bool = False
    is_open: bool = True
    """Whether the user's own words, or none, are an answer as well."""


class Step(BaseModel, frozen=True):
    """One simple command of a command line."""

    text: str
    note: Note = ()
    """What it does, as far as that is known."""


class ApprovalRequest(BaseModel, frozen=True):
    """May this call run? Everything the user needs to answer, as data for any frontend."""

    type: Literal["approval"] = "approval"
    id: str
    call_id: str
    tool: str
    title: str
    reasons: Reasons
    """Why it is asked."""
    codes: tuple[str, ...] = ()
    """The stable codes of the reasons, for programs."""
    targets: tuple[str, ...] = ()
    """What the call would touch, resolved."""
    preview: Display | None = None
    """The exact command or the whole diff."""
    description: str = ""
    """The model's own words about the call; a frontend labels them as such."""
    consequences: Reasons = ()
    """What would be lost or changed, counted, one fact a line."""
    steps: tuple[Step, ...] = ()
    """The simple commands of a command line, in order."""
    resolved: tuple[str, ...] = ()
    """Paths that lead elsewhere than they say: "docs/x → ~/y"."""
    odd: Reasons = ()
    """Warnings about text that may not be what it seems."""
    undo: Annotated[
        Reason | None,
        BeforeValidator(_as_reason),
        PlainSerializer(lambda reason: str(reason or ""), when_used="json"),
    ] = None
    """Whether what it destroys can be restored; None where nothing is known of it."""
    network: bool = False
    """It is known to talk to other machines."""
    directory: str = ""
    """Where it would run."""
    sandbox: str = "none"
    """What would confine it: a tier's name, "none", or "missing" if no sandbox works here."""
    confinable: bool = False
    """Whether it can run in the sandbox instead, which can change only the workspace."""
    rule: str | None = None
    """What "always" would add, to be shown; None: "always" is not offered."""
    rules: tuple[str, ...] = ()
    """The same, one by one: a line of several commands has a rule for each."""
    agent: str = ""
    """The profile of the agent whose call it is; empty: that of the session itself."""


class QuestionRequest(BaseModel, frozen=True):
    """The model, or the program itself, asks the user something."""

    type: Literal["question"] = "question"
    id: str
    call_id: str
    """The call that asks; empty: none does."""
    questions: tuple[Question, ...]
    by: Literal["model", "program"] = "model"


class PlanRequest(BaseModel, frozen=True):
    """The model presents a plan for approval."""

    type: Literal["plan"] = "plan"
    id: str
    call_id: str
    plan: str


Request = Annotated[ApprovalRequest | QuestionRequest | PlanRequest, Field(discriminator="type")]


class Approval(BaseModel, frozen=True):
    """The user's answer to an ApprovalRequest. What isn't a clear yes is a no."""

    answer: Literal["once", "confined", "session", "project", "no"] = "no"
    """"confined" is a yes for this once, in the sandbox."""
    reason: str = ""
    """With "no": what the model is told."""


class Answers(BaseModel, frozen=True):
    """The user's answers to a QuestionRequest: one text for each question."""

    answers: tuple[str, ...]


class PlanAnswer(BaseModel, frozen=True):
    """The user's answer to a PlanRequest. What isn't a clear yes keeps planning."""

    answer: Literal["default", "accept-edits", "keep"] = "keep"
    """The mode the plan is carried out in, or "keep" planning."""
    plan: str = ""
    """The plan as the user left it; empty: as it was."""
    reason: str = ""
    """With "keep": what the model is told."""


RequestAnswer = Approval | Answers | PlanAnswer


class Inbox:
    """Open requests of one session. Each is answered once; a second answer is refused."""

    def __init__(self, *, attended: bool) -> None:
        self.attended = attended
        """Whether there is somebody to ask."""
        self._open: dict[str, tuple[Request, asyncio.Future[RequestAnswer]]] = {}
        self._numbers = itertools.count(1)

    def next_id(self) -> str:
        """A fresh request id."""
        return f"ask-{next(self._numbers)}"

    @property
    def waiting(self) -> tuple[Request, ...]:
        """The open requests, oldest first."""
        return tuple(request for request, answer in self._open.values() if not answer.done())

    async def approval(self, request: ApprovalRequest, emit: "Callable[[Event], None]") -> Approval:
        """Ask whether a call may run, and wait for the user."""
        answer = await self._wait(request, emit)
        return answer if isinstance(answer, Approval) else Approval()

    async def answers(self, request: QuestionRequest, emit: "Callable[[Event], None]") -> Answers:
        """Ask questions, and wait for the user."""
        answer = await self._wait(request, emit)
        if isinstance(answer, Answers) and len(answer.answers) == len(request.questions):
            return answer
        return Answers(answers=("(no answer)",) * len(request.questions))

    async def consult(self, question: Question, emit: "Callable[[Event], None]") -> str | None:
        """The answer to a question of the program's own; None where there is nobody to ask."""
        if not self.attended:
            return None
        request = QuestionRequest(
            id=self.next_id(), call_id="", questions=(question,), by="program"
        )
        return (await self.answers(request, emit)).answers[0]

    async def plan(self, request: PlanRequest, emit: "Callable[[Event], None]") -> PlanAnswer:
        """Present a plan, and wait for the user."""
        answer = await self._wait(request, emit)
        return answer if isinstance(answer, PlanAnswer) else PlanAnswer()

    def reply(self, request_id: str, answer: RequestAnswer) -> bool:
        """Answer a request; False if it is not open (any more)."""
        entry = self._open.get(request_id)
        if entry is None or entry[1].done():
            return False
        entry[1].set_result(answer)
        return True

    def stop_asking(self) -> None:
        """Nobody answers any more: a no that comes now is that of nobody."""
        self.attended = False

    def settle(self, is_covered: Callable[[ApprovalRequest], bool]) -> None:
        """Say yes, this once, to each open approval request for which this is true."""
        for request in self.waiting:
            if isinstance(request, ApprovalRequest) and is_covered(request):
                self.reply(request.id, Approval(answer="once"))

    async def _wait(self, request: Request, emit: "Callable[[Event], None]") -> RequestAnswer:
        """Ask and wait; what ends without an answer is withdrawn."""
        from agent_cli.core import events  # noqa: PLC0415 (events are made of requests)

        future: asyncio.Future[RequestAnswer] = asyncio.get_running_loop().create_future()
        self._open[request.id] = (request, future)
        try:
            match request:
                case ApprovalRequest():
                    emit(events.ApprovalAsked(request=request))
                case QuestionRequest():
                    emit(events.QuestionAsked(request=request))
                case PlanRequest():
                    emit(events.PlanAsked(request=request))
            return await future
        except BaseException:
            emit(events.RequestWithdrawn(request_id=request.id))
            raise
        finally:
            del self._open[request.id]
