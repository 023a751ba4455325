"""Whether a call may run, in practice: check it, look closer where that helps, ask the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from agent_cli.core.deciding.approval_briefing import approval_request
from agent_cli.core.deciding.call_facts import as_a_look, gather, second_opinion
from agent_cli.core.deciding.rules import Facts
from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.core.events import ApprovalAnswered, Event, Notice, PlanAnswered
from agent_cli.core.inbox import Approval, Inbox, PlanAnswer, PlanRequest
from agent_cli.core.log.store import RuleStore
from agent_cli.core.policy import Decision, Effect, Mode, Policy
from agent_cli.core.tool import Invocation
from agent_cli.core.tool_context import ShellInfo, ToolContext
from agent_cli.lib.language import tr
from agent_cli.safety.paths import Workspace
from agent_cli.safety.reasons import Reason, because

AnyInvocation = Invocation[Any]


@dataclass
class PermissionCheck:
    """One call on its way to a permission, and what has been found out about it so far."""

    invocation: AnyInvocation
    context: ToolContext
    mode: str
    doubt: Reason | None = None
    """Why a hook wants the user asked, whatever the rules say."""
    facts: Facts | None = None
    decision: Decision | None = None
    answer: str | None = None


async def judge(
    invocation: AnyInvocation, workspace: Workspace, shell: ShellInfo, policy: Policy
) -> tuple[Facts, Decision]:
    """Gather the facts and decide; nothing is allowed that bash itself would read otherwise."""
    facts = await gather(invocation, workspace, shell, trusted=policy.trusted)
    decision = policy.decide(facts)
    if decision.effect is Effect.ALLOW:
        facts = await second_opinion(invocation, facts)
        decision = policy.decide(facts)
    return facts, decision


@dataclass
class Gatekeeper:
    """Lets calls through, or says why not."""

    policy: Policy
    inbox: Inbox
    emit: Callable[[Event], None]
    kept_rules: RuleStore
    undo_room: Callable[[], int] = int
    """How many bytes can be kept before a call, so that it can be undone."""
    unanswered: int = 0
    """Calls denied because nobody could be asked."""
    agent: str = ""
    """Whose calls these are, when it is not the session itself."""
    _covered: dict[str, Callable[[], bool]] = field(default_factory=dict)
    """By the id of an open request: whether the rules allow its call by now."""

    async def authorize(self, check: PermissionCheck) -> AnyInvocation:
        """The call as it may run; otherwise raises a failure that says why not."""
        facts, decision = await self._judge(check)
        discover = check.invocation.tool.discover
        may_look = (
            discover is not None
            and decision.effect is not Effect.DENY
            and self.policy.decide(as_a_look(facts)).effect is Effect.ALLOW
        )
        if may_look:
            facts, decision = await self._look(check)
        if decision.effect is Effect.ALLOW:
            return check.invocation
        _refuse_denied(check, decision)
        if not self.inbox.attended:
            raise self._unanswered(check, decision)
        covered = None if check.doubt else partial(self._is_covered, facts)
        await self._ask(check, facts, decision, covered)
        if discover is not None and not may_look:
            # What the user could not be shown by name is still held against the rules.
            _, found = await self._look(check)
            _refuse_denied(check, found)
        return check.invocation

    async def present(self, call_id: str, plan: str) -> PlanAnswer:
        """Show the user a plan; only their yes ends plan mode."""
        if not self.inbox.attended:
            raise _refusal(
                "Nobody is there to approve a plan. Give it as your answer and end your turn."
            )
        request = PlanRequest(id=self.inbox.next_id(), call_id=call_id, plan=plan)
        answer = await self.inbox.plan(request, self.emit)
        if answer.answer != "keep":
            self.policy.mode = Mode(answer.answer)
        self.emit(
            PlanAnswered(
                request_id=request.id,
                call_id=call_id,
                answer=answer.answer,
                mode=self.policy.mode.value,
                reason=answer.reason,
            )
        )
        return answer

    async def may_run_outside(self, check: PermissionCheck, why: Reason) -> bool:
        """Whether the user lets a command that failed in the sandbox run again without it."""
        if not self.inbox.attended:
            return False
        try:
            await self.confirm(
                check, because("failed_in_sandbox", why=why), because("rerun_outside")
            )
        except ToolFailure:
            return False
        return True

    async def confirm(self, check: PermissionCheck, *reasons: Reason) -> None:
        """Ask about a call that needed no question until now; a no is a failure."""
        assert check.facts is not None
        await self._ask(check, check.facts, Decision(Effect.ASK, reasons))

    async def _judge(self, check: PermissionCheck) -> tuple[Facts, Decision]:
        context = check.context
        if self.policy.mode is Mode.AUTO:
            self.policy.confines = (await context.session.sandbox.get()).confines
        shell = context.state(ShellInfo)
        facts, decision = await judge(check.invocation, context.workspace, shell, self.policy)
        if check.doubt and decision.effect is not Effect.DENY:
            reasons = decision.reasons if decision.effect is Effect.ASK else ()
            decision = replace(decision, effect=Effect.ASK, reasons=(*reasons, check.doubt))
        check.facts, check.decision = facts, decision
        return facts, decision

    async def _look(self, check: PermissionCheck) -> tuple[Facts, Decision]:
        """Let the tool find out what it would touch, and judge that."""
        invocation = check.invocation
        assert invocation.tool.discover is not None
        found = await invocation.tool.discover(invocation.params, check.context)
        check.invocation = replace(invocation, found=found)
        return await self._judge(check)

    def _is_covered(self, facts: Facts) -> bool:
        """Whether no question would be asked about this by now."""
        decision = self.policy.decide(facts)
        return decision.effect is Effect.ALLOW and not decision.confined

    async def _ask(
        self,
        check: PermissionCheck,
        facts: Facts,
        decision: Decision,
        is_covered: Callable[[], bool] | None = None,
    ) -> None:
        """Return on a yes; a no is a failure with the user's words.

        `is_covered` tells whether a rule learnt meanwhile answers the question.
        """
        request = await approval_request(
            self.inbox.next_id(),
            check.invocation,
            check.context,
            facts,
            decision,
            self.policy,
            undo_room=self.undo_room(),
            agent=self.agent,
        )
        if is_covered is not None:
            self._covered[request.id] = is_covered
        try:
            answer = await self.inbox.approval(request, self.emit)
        finally:
            self._covered.pop(request.id, None)
        check.answer = answer.answer
        self.emit(
            ApprovalAnswered(
                request_id=request.id,
                call_id=request.call_id,
                answer=answer.answer,
                reason=answer.reason,
            )
        )
        if answer.answer == "no" and not self.inbox.attended:
            raise self._unanswered(check, decision)
        if answer.answer == "no":
            declined = f"The user declined this {check.invocation.tool.name} call."
            said = f" They said: {answer.reason}" if answer.reason else ""
            raise _refusal(declined + said, declined=True, words=answer.reason)
        # The mode may be another by now: a yes is no way around plan mode.
        _refuse_denied(check, self.policy.decide(facts))
        if request.rule:
            self._learn(request.rule, answer)

    def _unanswered(self, check: PermissionCheck, decision: Decision) -> ToolFailure:
        self.unanswered += 1
        return _refusal(
            f"{check.invocation.tool.name} needs the user's permission "
            f"({_join(decision.reasons)}), and nobody is there to ask. "
            "Continue without it, or say what you would need.",
            reasons=decision.reasons,
        )

    def _learn(self, rule: str, answer: Approval) -> None:
        """Allow it from now on, if the user said so; for the project, keep it."""
        if answer.answer not in ("session", "project"):
            return
        self.policy.learn(rule)
        self.inbox.settle(lambda open_: self._covered.get(open_.id, bool)())
        if answer.answer == "session":
            return
        try:
            self.kept_rules.keep(rule)
        except OSError as error:
            said = tr(
                "The rule {rule} applies to this session only: it couldn't be saved ({error}).",
                rule=rule,
                error=error,
            )
            self.emit(Notice(level="warning", text=said))


def _refuse_denied(check: PermissionCheck, decision: Decision) -> None:
    if decision.effect is Effect.DENY:
        name, why = check.invocation.tool.name, _join(decision.reasons)
        raise _refusal(f"{name} is not permitted: {why}.", reasons=decision.reasons)


def _join(reasons: tuple[Reason, ...]) -> str:
    return "; ".join(map(str, reasons))


_refusal = partial(ToolFailure, type=FailureType.PERMISSION)
