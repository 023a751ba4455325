"""The one way from a call to its result.

    find → parse → validate → hooks → decide → ask if needed → checkpoint → run (time, cancel)
    → bound → record

Permission is asked for here and nowhere else, so no tool, plugin or server can forget it. Nothing
but cancellation leaves `execute`: whatever goes wrong is a result the model can act upon.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from agent_cli.core.agents.agent_task import AgentReport, AgentTask
from agent_cli.core.deciding.gatekeeper import Gatekeeper, PermissionCheck
from agent_cli.core.deciding.record import call_record
from agent_cli.core.display import Display
from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.core.events import Event, Notice, ToolFinished, ToolProgress, ToolStarted
from agent_cli.core.hook_protocol import Hooks
from agent_cli.core.inbox import Answers, Question, QuestionRequest
from agent_cli.core.log.store import CallRecord, Recorder
from agent_cli.core.messages import ToolCall, text_of
from agent_cli.core.model import Model
from agent_cli.core.registry import DEFAULT_SELECTION, Registry, Selection
from agent_cli.core.result_filter import ResultFilter
from agent_cli.core.tool import Invocation, StatusTexts, ToolResult
from agent_cli.core.tool_context import SessionState, SessionView, ToolContext
from agent_cli.core.undo.checkpointer import Checkpointer
from agent_cli.lib.language import tr
from agent_cli.safety.reasons import Reason, because
from agent_cli.safety.redact import RedactedStream
from agent_cli.safety.sandbox import Profile

log = logging.getLogger(__name__)

AnyInvocation = Invocation[Any]
ReportProgress = Callable[[str | Display], None]
Send = Callable[["Pipeline", str, AgentTask, ReportProgress], Awaitable[AgentReport]]
"""Has another agent do something, for the call of this id."""

MAX_PARALLEL_CALLS = 8
MAX_CHAIN_DEPTH = 8
BLOCKED = "blocked_by_sandbox"
"""The metadata by which a tool says that the sandbox stood in its way, and how."""


@dataclass
class CallState:
    """What has become known of a call on its way through the pipeline."""

    call: ToolCall
    parent: CallState | None = None
    by_person: bool = False
    """The user typed it: there is nothing to ask, and the audit log says so."""
    invocation: AnyInvocation | None = None
    check: PermissionCheck | None = None
    sandbox: str = ""
    """What its command runs in, once it may run."""
    started: float = field(default_factory=time.monotonic)
    cancelled: threading.Event = field(default_factory=threading.Event)
    shown: RedactedStream = field(default_factory=lambda: RedactedStream(str))
    """What is shown of it while it runs."""
    children: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def depth(self) -> int:
        """How many tools stand between this call and the model."""
        return 0 if self.parent is None else self.parent.depth + 1

    @property
    def name(self) -> str:
        """The tool's name, or what the model wrote in its place."""
        return self.invocation.tool.name if self.invocation else self.call.name[:80]

    @property
    def shown_name(self) -> str:
        """The name a view shows."""
        return self.invocation.tool.display_name if self.invocation else self.call.name[:80]

    @property
    def seconds(self) -> float:
        """How long it has taken."""
        return time.monotonic() - self.started


@dataclass
class Pipeline:
    """Takes every tool call of a session from name to result."""

    registry: Registry
    gatekeeper: Gatekeeper
    session: SessionView
    recorder: Recorder
    result_filter: ResultFilter
    emit: Callable[[Event], None]
    model: Callable[[], Model]
    keeper: Checkpointer
    hooks: Hooks
    state: SessionState = field(default_factory=SessionState)
    selection: Selection = DEFAULT_SELECTION
    send: Send | None = None
    _recording_failed: bool = False

    async def execute_all(self, calls: Sequence[ToolCall], results: dict[str, ToolResult]) -> None:
        """Add each call's result by its id as it comes; neighbours that may run together do.

        An interruption leaves the results of the calls that had finished.
        """
        limit = asyncio.Semaphore(MAX_PARALLEL_CALLS)

        async def bounded(call: ToolCall) -> None:
            async with limit:
                results[call.id] = await self.execute(call)

        for together, group in itertools.groupby(calls, self._may_run_beside_others):
            if together:
                async with asyncio.TaskGroup() as tasks:
                    for call in group:
                        tasks.create_task(bounded(call))
            else:
                for call in group:
                    results[call.id] = await self.execute(call)

    async def execute(
        self, call: ToolCall, parent: CallState | None = None, *, by_person: bool = False
    ) -> ToolResult:
        """The result of one call, whatever happens."""
        state = CallState(call, parent, by_person)
        try:
            invocation = self._bind(state)
            context = self._context(state)
            if by_person:
                await self._note_sandbox(state, None)
            else:
                invocation, context = await self._authorise(state, invocation, context)
            async with self.keeper.around(invocation, context, state.check):
                await self.gatekeeper.require_same(state.check)
                result = await self._run(invocation, context)
                if BLOCKED in result.metadata:
                    result = await self._outside(state, invocation, context, result)
        except ToolFailure as failure:
            result = ToolResult.from_failure(failure)
        except asyncio.CancelledError as interruption:
            state.cancelled.set()
            done = " ".join(getattr(interruption, "__notes__", ()))  # what a tool did by then
            said = f"Interrupted by the user. {done}".rstrip()
            summary = tr("Interrupted after the change was made") if done else tr("Interrupted")
            cancelled = ToolFailure(said, type=FailureType.CANCELLED)
            self._finish(state, ToolResult.from_failure(cancelled, summary=summary))
            raise
        except Exception as error:  # the only broad one: a broken tool must not end the session
            log.exception("%s failed unexpectedly", call.name)
            broken = ToolFailure(
                f"{call.name} failed unexpectedly ({type(error).__name__}: {error}). "
                "This is a bug in the tool, not in the arguments: try another way.",
                type=FailureType.UNKNOWN,
            )
            result = ToolResult.from_failure(broken)
        return self._finish(state, result)

    @property
    def _offered(self) -> Selection:
        return replace(self.selection, mode=self.gatekeeper.policy.mode.value)

    def _may_run_beside_others(self, call: ToolCall) -> bool:
        tool = self.registry.get(call.name)
        return tool is not None and bool(tool.is_concurrency_safe)

    def _bind(self, state: CallState) -> AnyInvocation:
        """Find the tool, read the arguments, tell the world."""
        call = state.call
        selection = DEFAULT_SELECTION if state.by_person else self._offered
        try:
            state.invocation = self.registry.find(call.name, selection).bind(call.arguments)
        finally:
            self._announce(state)
        return state.invocation

    def _announce(self, state: CallState) -> None:
        invocation = state.invocation
        status = invocation.tool.status if invocation else StatusTexts()
        self.emit(
            ToolStarted(
                call_id=state.call.id,
                tool=state.shown_name,
                title=invocation.title if invocation else "",
                status=tr(status.pending),
                arguments=_arguments(invocation),
                parent_id=state.parent.call.id if state.parent else None,
            )
        )

    def _context(self, state: CallState) -> ToolContext:
        def progress(shown: str | Display) -> None:
            if not isinstance(shown, str):
                block = self.result_filter.clean_display(shown)
                self.emit(ToolProgress(call_id=state.call.id, block=block))
            # What a command prints comes in pieces; any other text is whole.
            elif text := (state.shown.feed if streams else self.result_filter.redact)(shown):
                self.emit(ToolProgress(call_id=state.call.id, text=text))

        streams = state.invocation is not None and state.invocation.tool.runs_in_shell
        state.shown = RedactedStream(self.result_filter.redact)

        async def send(agent_task: AgentTask) -> AgentReport:
            if self.send is None:
                raise ToolFailure("There are no other agents here.")
            return await self.send(self, state.call.id, agent_task, progress)

        return ToolContext(
            call_id=state.call.id,
            may_read=self.gatekeeper.policy.may_read(state.name),
            session=self.session,
            model=self.model(),
            cancelled=state.cancelled,
            progress=progress,
            state=self.state.get,
            call=partial(self._chain, state),
            ask=partial(self._ask_user, state),
            present=partial(self.gatekeeper.present, state.call.id),
            agree=partial(self._agree, state),
            send=send,
        )

    async def _authorise(
        self, state: CallState, invocation: AnyInvocation, context: ToolContext
    ) -> tuple[AnyInvocation, ToolContext]:
        """The call as it may run, or a failure that says why not."""
        invocation, doubt = await self._heed_hooks(invocation, context)
        state.invocation = invocation
        mode = self.gatekeeper.policy.mode.value
        check = state.check = PermissionCheck(invocation, context, mode, doubt)
        state.invocation = await self.gatekeeper.authorize(check)
        confined = self.gatekeeper.confinement(check)
        await self._note_sandbox(state, confined)
        judged = {each.typed: each.real for each in check.facts.paths} if check.facts else {}
        return state.invocation, replace(context, confined=confined, judged=judged)

    async def _note_sandbox(self, state: CallState, confined: Profile | None) -> None:
        """Remember for the audit log what a command runs in."""
        if state.invocation is not None and state.invocation.tool.runs_in_shell:
            sandbox = await self.session.sandbox.get() if confined else None
            state.sandbox = sandbox.label(confined) if sandbox and confined else "none"

    async def _heed_hooks(
        self, invocation: AnyInvocation, context: ToolContext
    ) -> tuple[AnyInvocation, Reason | None]:
        """The call as hooks want it, before it is decided about, and why they want it asked."""
        tool, given = invocation.tool, _arguments(invocation)
        verdict = await self.hooks.before_call(tool.name, given)
        if verdict.deny:
            said = f"{tool.name} is not permitted: {verdict.deny}."
            raise ToolFailure(said, type=FailureType.PERMISSION, reasons=(verdict.deny,))
        if verdict.arguments is None or verdict.arguments == given:
            return invocation, verdict.ask
        try:
            changed = tool.bind(verdict.arguments)
        except ToolFailure as failure:
            said = f"A hook made the arguments invalid: {failure.message}"
            raise ToolFailure(said, type=failure.type, details=failure.details) from failure
        new = json.dumps(_arguments(changed))[:1_000]
        context.progress(tr("a hook changed the arguments to {arguments}", arguments=new))
        note = f"a hook changed the arguments to {new}"
        return replace(changed, notes=(*changed.notes, note)), verdict.ask

    async def _outside(
        self, state: CallState, invocation: AnyInvocation, context: ToolContext, result: ToolResult
    ) -> ToolResult:
        """What the sandbox stopped, run again without it if the user agrees."""
        assert state.check is not None
        why = because(str(result.metadata[BLOCKED]))
        if await self.gatekeeper.may_run_outside(state.check, why):
            await self._note_sandbox(state, None)
            return await self._run(invocation, replace(context, confined=None))
        note = f"[It ran in the sandbox, and that may be why it failed: {why}.]"
        return result.model_copy(update={"llm_content": f"{text_of(result.llm_content)}\n{note}"})

    async def _run(self, invocation: AnyInvocation, context: ToolContext) -> ToolResult:
        """Run the tool within its time; what was put right in its arguments is noted."""
        limit = invocation.tool.timeout
        try:
            async with asyncio.timeout(limit):
                result = await invocation.run(context)
        except TimeoutError as error:
            context.cancelled.set()
            said = f"{invocation.tool.name} was stopped: it took longer than {limit:g} s."
            raise ToolFailure(said, type=FailureType.TIMEOUT) from error
        if invocation.notes and isinstance(result.llm_content, str):
            noted = f"{text_of(result.llm_content)}\n\n[{'; '.join(invocation.notes)}]"
            result = result.model_copy(update={"llm_content": noted})
        return result

    async def _chain(self, state: CallState, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """A call made by a tool: the same pipeline, one level deeper."""
        if state.depth + 1 >= MAX_CHAIN_DEPTH:
            raise ToolFailure(f"Tools call each other more than {MAX_CHAIN_DEPTH} levels deep.")
        tool = self.registry.find(name, self._offered)
        inner = ToolCall(
            id=f"{state.call.id}/{next(state.children)}",
            name=tool.name,
            arguments=tool.params.model_validate(arguments).model_dump_json(exclude_unset=True),
        )
        return await self.execute(inner, state)

    async def _agree(self, state: CallState, reason: Reason, shown: Display) -> bool:
        """Whether the user agrees to something that a call has led to."""
        if state.check is None:
            return state.by_person
        return await self.gatekeeper.may_stand(state.check, reason, shown)

    async def _ask_user(self, state: CallState, questions: tuple[Question, ...]) -> Answers:
        inbox = self.gatekeeper.inbox
        if not inbox.attended:
            raise ToolFailure(
                "Nobody is there to answer. Decide yourself, and say what you assumed."
            )
        request = QuestionRequest(id=inbox.next_id(), call_id=state.call.id, questions=questions)
        return await inbox.answers(request, self.emit)

    def _finish(self, state: CallState, result: ToolResult) -> ToolResult:
        """Make the result fit to leave, tell the world, and write it down."""
        if rest := state.shown.finish():
            self.emit(ToolProgress(call_id=state.call.id, text=rest))
        result = self.result_filter.prepare(result, state.call.id, self.session.result_chars)
        invocation = state.invocation
        if not result.success and not result.summary and invocation is not None:
            result = result.model_copy(update={"summary": tr(invocation.tool.status.error)})
        self.emit(
            ToolFinished(
                call_id=state.call.id, tool=state.shown_name, result=result, seconds=state.seconds
            )
        )
        self._record(state, result)
        self.hooks.after_call(state.name, _arguments(invocation), result)
        return result

    def _record(self, state: CallState, result: ToolResult) -> None:
        redact, invocation, check = self.result_filter.redact, state.invocation, state.check
        record = CallRecord(
            session_id=self.session.id,
            call_id=state.call.id,
            tool=state.name if invocation else redact(state.name),
            by="person" if state.by_person else "model",
            agent=self.gatekeeper.agent,
            mode=check.mode if check else "",
            answer=check.answer if check else None,
            sandbox=state.sandbox,
            seconds=round(state.seconds, 6),
        )
        try:
            self.recorder.record(call_record(record, invocation, check, result, redact))
        except OSError as error:
            log.warning("the audit log cannot be written: %s", error)
            if not self._recording_failed:
                self._recording_failed = True
                why = error.strerror or error
                text = tr("The audit log cannot be written: {error}.", error=why)
                hint = tr("The session continues, but its calls are not recorded.")
                self.emit(Notice(level="warning", text=text, hint=hint))


def _arguments(invocation: AnyInvocation | None) -> dict[str, Any]:
    return invocation.params.model_dump(mode="json", exclude_unset=True) if invocation else {}
