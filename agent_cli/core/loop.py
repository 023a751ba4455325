"""One turn: from a prompt to the final answer.

    prompt → ( steering → reply → calls → results )* → answer

The turn ends when the model makes no more calls, the user interrupts, something fails for good,
or a limit is reached. However it ends, every call in the history has exactly one result.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from agent_cli.core import events as ev
from agent_cli.core.compaction.compactor import Compactor
from agent_cli.core.errors import AgentError, ModelError, ModelErrorKind, internal_error
from agent_cli.core.message_history import Conversation, sendable
from agent_cli.core.messages import (
    INTERRUPTED,
    AssistantMessage,
    Content,
    ToolCall,
    UserMessage,
    no_result,
    text_of,
)
from agent_cli.core.model import Finish, Model, ModelRequest, Reply, TextChunk, ThinkingChunk, Usage
from agent_cli.core.money.accounting import Accounting
from agent_cli.core.money.budget import BudgetCheck, OutOfBudget
from agent_cli.core.pipeline import Pipeline
from agent_cli.core.prompt_template import PromptTemplate, render_template
from agent_cli.core.repetition_guard import RepetitionGuard
from agent_cli.core.retry_policy import RetryPolicy
from agent_cli.core.runaway_guard import MAX_REPLY_CHARS, RunawayGuard
from agent_cli.core.tool import ToolResult
from agent_cli.lib.language import tr, trn

log = logging.getLogger(__name__)

CUT_OFF = (
    "Not run: the reply reached the output limit before this call was complete. "
    "Make it again in smaller pieces."
)
BROKE_OFF = "Your reply broke off. Continue where it stopped."
EMPTY = "Your reply was empty. Continue with the work, or say in a sentence that it is done."


class _Stop(AgentError):
    """Ends a turn before the model does."""

    def __init__(self, reason: ev.FinishReason, message: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.reason = reason


@dataclass
class Turn:
    """One turn of a session, and all it needs."""

    number: int
    session_id: str
    conversation: Conversation
    pipeline: Pipeline
    models: Sequence[Model]
    """The model in use and, after it, those that stand in when it fails."""
    request: Callable[[], ModelRequest]
    emit: Callable[[ev.Event], None]
    accounting: Accounting
    budget_guard: BudgetCheck
    compactor: Compactor
    use_model: Callable[[str], Model]
    """Goes on with another model, in this turn and after it."""
    max_steps: int
    retry: RetryPolicy
    steering: list[str] = field(default_factory=list)
    """Messages typed during the turn; they reach the model before its next step."""

    is_over: bool = False
    error: str = ""
    """What ended it before the model did, in words."""

    _steps: int = 0
    _model_index: int = 0
    _partial: list[str] = field(default_factory=list)
    _guard: RepetitionGuard = field(default_factory=RepetitionGuard)
    _sent: ModelRequest | None = None
    _has_compacted: bool = False
    _has_repaired: bool = False
    _has_nudged: bool = False
    _started: float = field(default_factory=time.monotonic)

    async def run(self, prompt: Content | PromptTemplate | None) -> None:
        """Play the turn; the last event is TurnFinished, whatever happens."""
        model = self.models[0].name
        said = prompt.said if isinstance(prompt, PromptTemplate) else text_of(prompt or "")
        self.pipeline.gatekeeper.unanswered = 0
        self.accounting.spending.begin_turn(self.number)
        self.emit(
            ev.TurnStarted(session_id=self.session_id, turn=self.number, prompt=said, model=model)
        )
        try:
            if isinstance(prompt, PromptTemplate):
                prompt = await render_template(prompt, self.pipeline)
            if prompt is not None:
                self.conversation.append(UserMessage(content=prompt))
            elif self.conversation.ends_in_a_reply:
                self.conversation.tell_model(BROKE_OFF)
            answer = await self._play()
        except _Stop as stop:
            self._finish(stop.reason, error=stop.message, hint=stop.hint)
        except ModelError as error:
            self._keep_partial()
            reason: ev.FinishReason = "temporary" if error.retryable else "failed"
            self._finish(reason, error=error.message, hint=error.hint)
        except asyncio.CancelledError:
            self._keep_partial()
            self._finish("interrupted")
            raise
        except Exception as error:
            log.exception("the turn failed")
            self.conversation.close_open_calls("Not run: the program failed.")
            self._finish("failed", error=internal_error(error), hint=tr("See the log."))
        else:
            self._finish("done", text=answer.message.text, suggestion=answer.suggestion)

    async def _play(self) -> Reply:
        """Steps until the model makes no more calls; returns its last reply."""
        while True:
            self._deliver_steering()
            await self._check_limits()
            await self.compactor.before_step(self._model.name)
            reply = await self._reply()
            await self._account(reply)
            if await self._handle_calls(reply) or self.steering or self._wants_more(reply):
                continue
            return reply

    def _deliver_steering(self) -> None:
        while self.steering:
            text = self.steering.pop(0)
            self.conversation.append(UserMessage(content=text))
            self.emit(ev.PromptAdded(text=text))

    async def _check_limits(self) -> None:
        if self._steps >= self.max_steps:
            raise _Stop(
                "step_limit",
                trn("Stopped after {n:,} step.", "Stopped after {n:,} steps.", self._steps),
                tr("Say “continue”, or raise --max-steps (limits.steps)."),
            )
        try:
            chosen = await self.budget_guard.check()
        except OutOfBudget as over:
            raise _Stop("cost_limit", over.message, over.hint) from over
        if chosen is not None:
            self.models, self._model_index = [self.use_model(chosen)], 0
        self._steps += 1

    @property
    def _model(self) -> Model:
        return self.models[self._model_index]

    async def _reply(self) -> Reply:
        """The model's next reply, from the first model that gives one."""
        while True:
            model = self._model
            try:
                return await self._reply_from(model)
            except ModelError as error:
                if not error.retryable or self._model_index + 1 >= len(self.models):
                    raise
                self._model_index += 1
                text = tr(
                    "{model} is not answering ({reason}). "
                    "Using {stand_in} for the rest of this turn.",
                    model=model.name,
                    reason=error.message,
                    stand_in=self._model.name,
                )
                self.emit(ev.Notice(level="warning", text=text))

    async def _reply_from(self, model: Model) -> Reply:
        attempt = 1
        while True:
            try:
                return await self._stream(model)
            except ModelError as error:
                if await self._repair(error):
                    continue
                delay = self.retry.delay(error, attempt)
                if delay is None:
                    raise
                self.emit(
                    ev.ModelRetrying(
                        model=model.name, attempt=attempt, delay=delay, reason=error.message
                    )
                )
                await asyncio.sleep(delay)
                attempt += 1

    async def _repair(self, error: ModelError) -> bool:
        """Whether something was done about the error, so that the request is worth repeating."""
        if error.kind is ModelErrorKind.OVERFLOW and not self._has_compacted:
            self._has_compacted = True
            return await self.compactor.after_overflow(self._model.name, error.message)
        if error.kind is ModelErrorKind.BAD_HISTORY and not self._has_repaired:
            self._has_repaired = True
            self.conversation.replace(self.conversation.messages, reason=error.message)
            text = tr("The history was repaired: {reason}", reason=error.message)
            self.emit(ev.Notice(level="warning", text=text))
            return True
        return False

    async def _stream(self, model: Model) -> Reply:
        """One request; its pieces become events, the whole becomes the reply."""
        self._partial.clear()
        runaway = RunawayGuard()
        self._sent = request = self.request()
        async with self.accounting.watching(model.name, request) as received:
            async with aclosing(model.stream(request)) as events:  # type: ignore[type-var]
                async for event in events:
                    if isinstance(event, Reply):
                        return event
                    received.append(event.text)
                    self._show(event)
                    if problem := runaway.see(event.text):
                        used = await self.accounting.estimate(model.name, request, received)
                        return self._cut(model, problem, used)
            raise ModelError(tr("The model's reply broke off."), kind=ModelErrorKind.CONNECTION)

    def _show(self, piece: TextChunk | ThinkingChunk) -> None:
        if isinstance(piece, ThinkingChunk):
            self.emit(ev.ThinkingDelta(text=piece.text))
        else:
            self._partial.append(piece.text)
            self.emit(ev.TextDelta(text=piece.text))

    def _cut(self, model: Model, problem: str, used: Usage) -> Reply:
        text = "".join(self._partial)[:MAX_REPLY_CHARS].rstrip()
        message = AssistantMessage(text=text, model=model.name)
        return Reply(message, Finish.LENGTH, usage=used, notices=(problem,))

    async def _account(self, reply: Reply) -> None:
        assert self._sent is not None
        await self.accounting.count(self._model.name, self._sent, reply.usage)
        for notice in reply.notices:
            self.emit(ev.Notice(level="warning", text=notice))
        if reply.finish is Finish.FILTER:
            text = tr("The provider's content filter cut off the reply.")
            self.emit(ev.Notice(level="warning", text=text))

    async def _handle_calls(self, reply: Reply) -> bool:
        """Put the reply and its results into the history; whether the model continues from them."""
        message = reply.message
        calls = () if reply.finish is Finish.FILTER else self.conversation.fresh_ids(message.calls)
        if message.text or message.thinking or calls:
            kept = {"calls": tuple(sendable(call) for call in calls)}
            self.conversation.append(message.model_copy(update=kept))
        self._partial.clear()
        if not calls:
            return False
        if reply.finish is Finish.LENGTH:
            for call in calls:
                self.conversation.append(no_result(call, CUT_OFF))
        else:
            await self._run_calls(calls)
        return True

    async def _run_calls(self, calls: Sequence[ToolCall]) -> None:
        results: dict[str, ToolResult] = {}
        try:
            await self.pipeline.execute_all(calls, results)
        finally:  # an interruption does not unmake what had been done
            for call in calls:
                self._keep_result(call, results.get(call.id))
        if verdict := self._guard.verdict:
            raise _Stop(*verdict, tr("Tell the model what to do differently."))

    def _keep_result(self, call: ToolCall, result: ToolResult | None) -> None:
        if result is None:
            self.conversation.append(no_result(call, INTERRUPTED))
            return
        self.conversation.append(self._guard.see(call, result).as_message(call))

    def _wants_more(self, reply: Reply) -> bool:
        """An empty reply is asked about once; then the turn ends with what there is."""
        if reply.message.text.strip() or reply.finish is Finish.FILTER:
            return False
        if self._has_nudged:
            self.emit(ev.Notice(level="warning", text=tr("The model gave an empty answer.")))
            return False
        self._has_nudged = True
        self.conversation.tell_model(EMPTY)
        return True

    def _keep_partial(self) -> None:
        """What was shown of an unfinished reply stays part of the conversation."""
        text = "".join(self._partial).strip()
        if text:
            model = self._model.name
            self.conversation.append(AssistantMessage(text=text, model=model, interrupted=True))
        self._partial.clear()

    def _finish(
        self,
        reason: ev.FinishReason,
        *,
        text: str = "",
        error: str = "",
        hint: str = "",
        suggestion: str = "",
    ) -> None:
        self.is_over, self.error = True, error
        self.budget_guard.tell()
        self.emit(
            ev.TurnFinished(
                turn=self.number,
                reason=reason,
                text=text,
                error=error,
                hint=hint,
                steps=self._steps,
                usage=self.accounting.spending.turns[-1].usage,
                seconds=time.monotonic() - self._started,
                denials=self.pipeline.gatekeeper.unanswered,
                suggestion=suggestion,
                receipt=self.pipeline.keeper.receipt(self.pipeline.state),
            )
        )
