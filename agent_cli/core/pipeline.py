"""The one way from a call to its result.

    find → parse → validate → decide → ask if needed → run (time, cancel) → bound → record

Permission lives here and nowhere else, so no tool, plugin or server can forget it. Nothing but
cancellation leaves `execute`: whatever goes wrong is a result the model can act upon.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_cli.core.briefing import Briefing, brief
from agent_cli.core.display import Display, TerminalBlock
from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.core.events import (
    ApprovalAnswered,
    ApprovalAsked,
    Event,
    Notice,
    QuestionAsked,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from agent_cli.core.facts import gather
from agent_cli.core.inbox import Answers, ApprovalRequest, Inbox, Question, QuestionRequest
from agent_cli.core.messages import ToolCall, text_of
from agent_cli.core.model import Model
from agent_cli.core.outgoing import Outgoing
from agent_cli.core.permissions import Decision, Effect, Policy
from agent_cli.core.registry import EVERYTHING, Registry, Selection
from agent_cli.core.store import CallRecord, Recorder
from agent_cli.core.tool import Invocation, ToolResult
from agent_cli.core.tool_context import SessionState, SessionView, ShellStanding, ToolContext

log = logging.getLogger(__name__)

AnyInvocation = Invocation[Any]

MOST_PARALLEL = 8
DEEPEST_CHAIN = 8


@dataclass
class Course:
    """What has become known of a call on its way through the pipeline."""

    call: ToolCall
    parent: Course | None = None
    invocation: AnyInvocation | None = None
    decision: Decision | None = None
    answer: str | None = None
    started: float = field(default_factory=time.monotonic)
    cancelled: threading.Event = field(default_factory=threading.Event)
    children: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def depth(self) -> int:
        """How many tools stand between this call and the model."""
        return 0 if self.parent is None else self.parent.depth + 1

    @property
    def seconds(self) -> float:
        """How long it has taken."""
        return time.monotonic() - self.started


@dataclass
class Pipeline:
    """Takes every tool call of a session from name to result."""

    registry: Registry
    policy: Policy
    inbox: Inbox
    session: SessionView
    recorder: Recorder
    outgoing: Outgoing
    emit: Callable[[Event], None]
    model: Callable[[], Model]
    state: SessionState = field(default_factory=SessionState)
    selection: Selection = EVERYTHING
    unanswered: int = 0
    """Calls denied because nobody could be asked."""
    _recording_failed: bool = False

    async def execute_all(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """The results, in the order of the calls; neighbours that may run together do."""
        results: list[ToolResult] = []
        limit = asyncio.Semaphore(MOST_PARALLEL)

        async def bounded(call: ToolCall) -> ToolResult:
            async with limit:
                return await self.execute(call)

        for together, group in itertools.groupby(calls, self._may_run_beside_others):
            if together:
                async with asyncio.TaskGroup() as tasks:
                    running = [tasks.create_task(bounded(call)) for call in group]
                results += [task.result() for task in running]
            else:
                for call in group:
                    results.append(await self.execute(call))
        return results

    async def execute(self, call: ToolCall, parent: Course | None = None) -> ToolResult:
        """The result of one call, whatever happens."""
        course = Course(call, parent)
        try:
            invocation = self._bind(course)
            context = self._context(course)
            await self._authorise(course, invocation, context)
            result = await self._run(invocation, context)
        except ToolFailure as failure:
            result = ToolResult.failed(failure)
        except asyncio.CancelledError:
            course.cancelled.set()
            cancelled = ToolFailure("Interrupted by the person.", type=FailureType.CANCELLED)
            self._finish(course, ToolResult.failed(cancelled, summary="Interrupted"))
            raise
        except Exception as error:  # the only broad one: a broken tool must not end the session
            log.exception("%s failed unexpectedly", call.name)
            broken = ToolFailure(
                f"{call.name} failed unexpectedly ({type(error).__name__}: {error}). "
                "This is a fault of the tool, not of the arguments: try another way.",
                type=FailureType.UNKNOWN,
            )
            result = ToolResult.failed(broken)
        return self._finish(course, result)

    def _may_run_beside_others(self, call: ToolCall) -> bool:
        tool = self.registry.get(call.name)
        return tool is not None and bool(tool.is_concurrency_safe)

    def _bind(self, course: Course) -> AnyInvocation:
        """Find the tool, read the arguments, tell the world."""
        call = course.call
        try:
            course.invocation = self.registry.find(call.name, self.selection).bind(call.arguments)
        finally:
            self._announce(course)
        return course.invocation

    def _announce(self, course: Course) -> None:
        call, invocation = course.call, course.invocation
        parent_id = course.parent.call.id if course.parent else None
        if invocation is None:
            self.emit(ToolStarted(call_id=call.id, tool=call.name[:80], parent_id=parent_id))
            return
        self.emit(
            ToolStarted(
                call_id=call.id,
                tool=invocation.tool.display_name,
                title=invocation.title,
                status=invocation.tool.status.pending,
                arguments=invocation.params.model_dump(mode="json", exclude_unset=True),
                parent_id=parent_id,
            )
        )

    def _context(self, course: Course) -> ToolContext:
        def progress(shown: str | Display) -> None:
            said = {"text": shown} if isinstance(shown, str) else {"block": shown}
            self.emit(ToolProgress.model_validate({"call_id": course.call.id, **said}))

        async def call(name: str, arguments: Mapping[str, Any]) -> ToolResult:
            return await self._chain(course, name, arguments)

        async def ask(questions: tuple[Question, ...]) -> Answers:
            return await self._ask_person(course, questions)

        return ToolContext(
            call_id=course.call.id,
            session=self.session,
            model=self.model(),
            cancelled=course.cancelled,
            progress=progress,
            state=self.state.get,
            call=call,
            ask=ask,
        )

    async def _authorise(
        self, course: Course, invocation: AnyInvocation, context: ToolContext
    ) -> None:
        """Return if the call may run; otherwise raise a failure that says why not."""
        shell = self.state.get(ShellStanding)
        facts = await gather(invocation, self.session.workspace, shell, trusted=self.policy.trusted)
        decision = course.decision = self.policy.decide(facts)
        if decision.effect is Effect.ALLOW:
            return
        why = "; ".join(decision.reasons)
        if decision.effect is Effect.DENY:
            raise _not_permitted(f"{invocation.tool.name} is not permitted: {why}.")
        if not self.inbox.attended:
            self.unanswered += 1
            raise _not_permitted(
                f"{invocation.tool.name} needs the person's permission ({why}), "
                "and nobody is there to ask. Go on without it, or say what you would need."
            )
        briefing = await brief(
            facts, invocation.targets, self.session.workspace, self.session.environment
        )
        await self._ask_permission(course, invocation, context, decision, briefing)

    async def _ask_permission(
        self,
        course: Course,
        invocation: AnyInvocation,
        context: ToolContext,
        decision: Decision,
        briefing: Briefing,
    ) -> None:
        tool, params = invocation.tool, invocation.params
        request = ApprovalRequest(
            id=self.inbox.next_id(),
            call_id=course.call.id,
            tool=tool.display_name,
            title=invocation.title,
            reasons=decision.reasons,
            targets=tuple(target.value for target in invocation.targets),
            preview=await tool.preview(params, context) if tool.preview else _command(invocation),
            description=str(getattr(params, "description", "") or ""),
            consequences=briefing.consequences,
            steps=briefing.steps,
            resolved=briefing.resolved,
            odd=briefing.odd,
            network=briefing.network,
        )
        answer = await self.inbox.approval(request, lambda r: self.emit(ApprovalAsked(request=r)))
        course.answer = answer.answer
        self.emit(
            ApprovalAnswered(
                request_id=request.id,
                call_id=course.call.id,
                answer=answer.answer,
                reason=answer.reason,
            )
        )
        if answer.answer == "no":
            because = f" The person said: {answer.reason}" if answer.reason else ""
            raise _not_permitted(f"The person did not permit this {tool.name} call.{because}")
        if answer.answer in ("session", "project") and request.rule:
            self.policy.learn(request.rule)

    async def _run(self, invocation: AnyInvocation, context: ToolContext) -> ToolResult:
        """Run the tool within its time; what it returns is fit to be sent and shown."""
        limit = invocation.tool.timeout
        try:
            async with asyncio.timeout(limit):
                result = await invocation.run(context)
        except TimeoutError as error:
            context.cancelled.set()
            raise ToolFailure(
                f"{invocation.tool.name} was stopped: it took longer than {limit:g} s.",
                type=FailureType.TIMEOUT,
            ) from error
        if invocation.notes:
            noted = f"{text_of(result.llm_content)}\n\n[{'; '.join(invocation.notes)}]"
            if isinstance(result.llm_content, str):
                result = result.model_copy(update={"llm_content": noted})
        return result

    async def _chain(self, course: Course, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """A call made by a tool: the same pipeline, one level deeper."""
        if course.depth + 1 >= DEEPEST_CHAIN:
            raise ToolFailure(f"Tools call each other more than {DEEPEST_CHAIN} levels deep.")
        tool = self.registry.find(name, self.selection)
        inner = ToolCall(
            id=f"{course.call.id}/{next(course.children)}",
            name=tool.name,
            arguments=tool.params.model_validate(arguments).model_dump_json(exclude_unset=True),
        )
        return await self.execute(inner, course)

    async def _ask_person(self, course: Course, questions: tuple[Question, ...]) -> Answers:
        if not self.inbox.attended:
            raise ToolFailure(
                "Nobody is there to answer. Decide by yourself and say which assumption you made.",
                type=FailureType.EXECUTION,
            )
        request = QuestionRequest(
            id=self.inbox.next_id(), call_id=course.call.id, questions=questions
        )
        return await self.inbox.answers(request, lambda r: self.emit(QuestionAsked(request=r)))

    def _finish(self, course: Course, result: ToolResult) -> ToolResult:
        """Make the result fit to leave, tell the world, and write it down."""
        result = self.outgoing.prepare(result, course.call.id)
        invocation, decision = course.invocation, course.decision
        if not result.success and not result.summary and invocation is not None:
            result = result.model_copy(update={"summary": invocation.tool.status.error})
        self.emit(
            ToolFinished(
                call_id=course.call.id,
                tool=invocation.tool.display_name if invocation else course.call.name[:80],
                result=result,
                seconds=course.seconds,
            )
        )
        self._record(
            CallRecord(
                session_id=self.session.id,
                call_id=course.call.id,
                tool=invocation.tool.name if invocation else course.call.name[:80],
                version=invocation.tool.version if invocation else "",
                targets=self._target_texts(invocation),
                decision=decision.effect.value if decision else "none",
                reasons=decision.reasons if decision else (),
                rule=decision.rule if decision else None,
                answer=course.answer,
                success=result.success,
                error=result.error.type if result.error else None,
                seconds=round(course.seconds, 6),
            )
        )
        return result

    def _target_texts(self, invocation: AnyInvocation | None) -> tuple[str, ...]:
        if invocation is None:
            return ()
        return tuple(self.outgoing.redact(target.value) for target in invocation.targets)

    def _record(self, record: CallRecord) -> None:
        try:
            self.recorder.record(record)
        except OSError as error:
            log.warning("the audit log cannot be written: %s", error)
            if not self._recording_failed:
                self._recording_failed = True
                self.emit(
                    Notice(
                        level="warning",
                        text=f"The audit log cannot be written: {error.strerror or error}.",
                        hint="The session goes on; its calls are not recorded.",
                    )
                )


def _not_permitted(message: str) -> ToolFailure:
    return ToolFailure(message, type=FailureType.PERMISSION)


def _command(invocation: AnyInvocation) -> Display | None:
    """The command of a call that is about one, as it will run."""
    for target in invocation.targets:
        if target.kind == "command":
            return TerminalBlock(command=target.value, output="")
    return None
