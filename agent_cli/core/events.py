"""What happens in a session, as data: frozen, JSON both ways, a `type` on each.

A turn reads like this, and a property test holds it over every turn:

    TurnStarted
      ( ThinkingDelta* TextDelta*          one step: what the model says …
        UsageChanged                       … and what it used
        ( ToolStarted                      each call, in the order of the calls
          ( ApprovalAsked ApprovalAnswered | PlanAsked PlanAnswered | QuestionAsked )*
          ToolProgress*
          ToolFinished )*                  parallel calls interleave between their own two ends
        PromptAdded* )*                    steering that reaches the model before its next step
    TurnFinished                           always, exactly once, last

ModelRetrying and Notice may come anywhere in between. The commands of a prompt that a file wrote
are calls before the first step. Before a step, HistoryCompacted (with the UsageChanged of its
summary) and a QuestionAsked of the program's own may come.

Whatever is asked (ApprovalAsked, QuestionAsked, PlanAsked) and ends without its answer being used
(an interrupt, a tool's timeout, the end of the turn) is followed by exactly one RequestWithdrawn
with its id, in the place of ApprovalAnswered or PlanAnswered: before the ToolFinished of its call.

A call that hands work to another agent has that agent's calls between its own two ends, with
`parent_id` and `is_folded`, and a UsageChanged with `aside` for each of its steps.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, Field, JsonValue, TypeAdapter

from agent_cli.core.compaction.compaction_report import CompactionReport
from agent_cli.core.display import Display
from agent_cli.core.inbox import ApprovalRequest, PlanRequest, QuestionRequest
from agent_cli.core.model import Usage
from agent_cli.core.tool import ToolResult
from agent_cli.core.undo.turn_receipt import Receipt


class BaseEvent(BaseModel, frozen=True):
    """The base of all events."""


class TurnStarted(BaseEvent):
    """The first event of every turn."""

    type: Literal["turn_started"] = "turn_started"
    session_id: str
    turn: int
    prompt: str
    model: str


class TextDelta(BaseEvent):
    """A piece of the answer. The pieces of one step, joined, are its text."""

    type: Literal["text_delta"] = "text_delta"
    text: str


class ThinkingDelta(BaseEvent):
    """A piece of the model's reasoning; comes before the text it leads to."""

    type: Literal["thinking_delta"] = "thinking_delta"
    text: str


class ToolStarted(BaseEvent):
    """A call is about to be checked and run. Exactly one ToolFinished with this id follows."""

    type: Literal["tool_started"] = "tool_started"
    call_id: str
    tool: str
    title: str = ""
    status: str = "Running…"
    arguments: dict[str, JsonValue] = {}
    parent_id: str | None = None
    """The call that made this one, when a tool calls a tool."""
    is_folded: bool = False
    """The progress of the call that made this one tells of it: a screen shows only that."""


class ToolProgress(BaseEvent):
    """Something a running call shows; between its ToolStarted and its ToolFinished."""

    type: Literal["tool_progress"] = "tool_progress"
    call_id: str
    text: str = ""
    block: Display | None = None


class ToolFinished(BaseEvent):
    """A call is over, whatever came of it. Nothing of this call follows."""

    type: Literal["tool_finished"] = "tool_finished"
    call_id: str
    tool: str
    result: ToolResult
    seconds: float


class ApprovalAsked(BaseEvent):
    """A call waits for the user: answer with `session.reply(request.id, Approval(…))`."""

    type: Literal["approval_asked"] = "approval_asked"
    request: ApprovalRequest


class ApprovalAnswered(BaseEvent):
    """The answer to an ApprovalAsked of the same id."""

    type: Literal["approval_answered"] = "approval_answered"
    request_id: str
    call_id: str
    answer: str
    reason: str = ""


class QuestionAsked(BaseEvent):
    """The model or the program asks: answer with `session.reply(request.id, Answers(…))`."""

    type: Literal["question_asked"] = "question_asked"
    request: QuestionRequest


class PlanAsked(BaseEvent):
    """The model presents a plan: answer with `session.reply(request.id, PlanAnswer(…))`."""

    type: Literal["plan_asked"] = "plan_asked"
    request: PlanRequest


class PlanAnswered(BaseEvent):
    """The answer to a PlanAsked of the same id; the mode has changed if it was a yes."""

    type: Literal["plan_answered"] = "plan_answered"
    request_id: str
    call_id: str
    answer: Literal["default", "accept-edits", "keep"]
    mode: str
    """The mode from now on."""
    reason: str = ""


class RequestWithdrawn(BaseEvent):
    """What was asked under this id needs no answer any more, and takes none."""

    type: Literal["request_withdrawn"] = "request_withdrawn"
    request_id: str


class PromptAdded(BaseEvent):
    """A message typed during the turn is now part of the conversation."""

    type: Literal["prompt_added"] = "prompt_added"
    text: str


class ModelRetrying(BaseEvent):
    """A request failed and will be made again. The text of this step shown so far is void."""

    type: Literal["model_retrying"] = "model_retrying"
    model: str
    attempt: int
    delay: float
    reason: str


class UsageChanged(BaseEvent):
    """After each step: what the step used and what the session used in all."""

    type: Literal["usage_changed"] = "usage_changed"
    model: str
    step: Usage
    total: Usage
    aside: bool = False
    """It was not a step: a model was asked something else, such as a summary."""


class HistoryCompacted(BaseEvent):
    """The conversation was shortened to fit the model's window."""

    type: Literal["history_compacted"] = "history_compacted"
    reason: str
    dropped: int
    """How many messages were thinned or replaced."""
    ledger: CompactionReport = CompactionReport()
    """What was kept and what was not."""


class Notice(BaseEvent):
    """Something the user should know; no answer is needed."""

    type: Literal["notice"] = "notice"
    level: Literal["info", "warning", "error"] = "info"
    text: str
    hint: str = ""


FinishReason = Literal[
    "done", "interrupted", "failed", "temporary", "step_limit", "cost_limit", "repetition", "denied"
]


class TurnFinished(BaseEvent):
    """The last event of every turn."""

    type: Literal["turn_finished"] = "turn_finished"
    turn: int
    reason: FinishReason
    text: str = ""
    """The model's final answer."""
    error: str = ""
    hint: str = ""
    steps: int = 0
    usage: Usage = Usage()
    """What this turn used, summaries and agents included."""
    seconds: float = 0.0
    denials: int = 0
    """Calls that were not run because a permission was missing."""
    suggestion: str = ""
    """What the user may well say next: Enter on an empty prompt sends it."""
    receipt: Receipt = Receipt()
    """What the turn changed, and what still runs."""


Event = Annotated[
    TurnStarted
    | TextDelta
    | ThinkingDelta
    | ToolStarted
    | ToolProgress
    | ToolFinished
    | ApprovalAsked
    | ApprovalAnswered
    | QuestionAsked
    | PlanAsked
    | PlanAnswered
    | RequestWithdrawn
    | PromptAdded
    | ModelRetrying
    | UsageChanged
    | HistoryCompacted
    | Notice
    | TurnFinished,
    Field(discriminator="type"),
]

EVENT: TypeAdapter[Event] = TypeAdapter(Event)
"""Reads an event back from JSON."""
