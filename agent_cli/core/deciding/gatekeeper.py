"""Whether a call may run, in practice: check it, look closer where that helps, ask the user."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from agent_cli.core.deciding.approval_briefing import approval_request
from agent_cli.core.deciding.call_facts import as_a_look, gather, second_opinion
from agent_cli.core.deciding.rules import Facts, ruled_out
from agent_cli.core.deciding.shown import Shown, shown_by, where_it_leads
from agent_cli.core.deciding.trees import name_ruled_out
from agent_cli.core.display import Display
from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.core.events import ApprovalAnswered, Event, Notice, PlanAnswered
from agent_cli.core.inbox import Approval, ApprovalRequest, Inbox, PlanAnswer, PlanRequest
from agent_cli.core.log.store import RuleStore
from agent_cli.core.policy import Decision, Effect, Mode, Policy
from agent_cli.core.tool import Invocation
from agent_cli.core.tool_context import ShellInfo, ToolContext
from agent_cli.lib.language import tr
from agent_cli.safety.paths import Workspace
from agent_cli.safety.reasons import Reason, because
from agent_cli.safety.sandbox import Profile, Sandbox, SandboxUnavailable

AnyInvocation = Invocation[Any]
MAX_ASKED = 3
"""Times that one call is asked about, because what it touches changed meanwhile."""


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
    leads: tuple[Any, ...] | None = None
    """Where what the user approved leads, of a command."""


async def judge(
    invocation: AnyInvocation, workspace: Workspace, shell: ShellInfo, policy: Policy
) -> tuple[Facts, Decision]:
    """Gather the facts and decide; nothing is allowed that bash itself would read otherwise."""
    facts = await gather(invocation, workspace, shell, trusted=policy.trusted)
    matchers = ruled_out(policy.rules, policy.place, secret_too=not policy.confines)
    if facts.trees and matchers:
        facts = await asyncio.to_thread(name_ruled_out, facts, matchers)
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
            raise self._unanswered(check, decision.reasons)
        covered = None if check.doubt else partial(self._is_covered, facts)
        await self._ask(check, facts, decision, covered, is_first=True)
        if discover is not None and not may_look:
            # What the user could not be shown by name is still held against the rules.
            _, found = await self._look(check)
            _refuse_denied(check, found)
        return check.invocation

    def confinement(self, check: PermissionCheck) -> Profile | None:
        """What confines a call that may run."""
        decided = check.decision.confined if check.decision else None
        approved_too = self.policy.confine_approved or check.answer == "confined"
        can_confine = self.policy.confines and check.invocation.tool.runs_in_shell
        return Profile.WORKSPACE if decided is None and approved_too and can_confine else decided

    def _is_confinable(self, facts: Facts, decision: Decision) -> bool:
        """Whether a command that would run unconfined could run in the sandbox as well."""
        is_command = facts.in_shell and bool(facts.commands) and not facts.touches_network
        is_free = decision.confined is None and not self.policy.confine_approved
        return self.policy.confines and is_command and is_free

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

    async def may_stand(self, check: PermissionCheck, reason: Reason, shown: Display) -> bool:
        """Whether the user agrees to something that a call has led to, and is shown."""
        if not self.inbox.attended or check.facts is None:
            return False
        try:
            await self._ask(check, check.facts, Decision(Effect.ASK, (reason,)), shown=shown)
        except ToolFailure:
            return False
        return True

    async def confirm(self, check: PermissionCheck, *reasons: Reason) -> None:
        """Ask about a call that needed no question until now; a no is a failure."""
        assert check.facts is not None
        await self._ask(check, check.facts, Decision(Effect.ASK, reasons))

    async def _judge(self, check: PermissionCheck) -> tuple[Facts, Decision]:
        context = check.context
        if check.invocation.tool.runs_in_shell:
            self.policy.confines = (await _sandbox(context)).confines
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

    async def _request(
        self, check: PermissionCheck, facts: Facts, decision: Decision, id: str = ""
    ) -> ApprovalRequest:
        return await approval_request(
            id,
            check.invocation,
            check.context,
            facts,
            decision,
            self.policy,
            undo_room=self.undo_room(),
            agent=self.agent,
        )

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
        *,
        is_first: bool = False,
        shown: Display | None = None,
    ) -> None:
        """Return on a yes; a no is a failure with the user's words.

        `is_covered` tells whether a rule learnt meanwhile answers the question. `is_first` if how
        the call will run is still open. `shown` is what the question is about, if that is not the
        call itself: then no rule can answer it for good.
        """
        request = await self._request(check, facts, decision, self.inbox.next_id())
        if is_first and self._is_confinable(facts, decision):
            request = request.model_copy(update={"confinable": True})
        if shown is not None:
            own = {"preview": shown, "rule": None, "rules": (), "steps": ()}
            await self._put(check, request.model_copy(update=own))
            return
        seen = shown_by(request, facts) if facts.in_shell else None
        await self._put(check, request, is_covered)
        if seen is not None:
            await self._ask_until_same(check, seen)

    async def _ask_until_same(self, check: PermissionCheck, shown: Shown) -> None:
        """A yes is for what was shown: if that is not so any more, ask again with what is.

        From the second time on the user knows that figures change; where it leads must not.
        """
        for asked in range(1, MAX_ASKED + 1):
            facts, decision = await self._judge(check)
            _refuse_denied(check, decision)
            request = await self._request(check, facts, decision)
            now = shown_by(request, facts)
            if now == shown or (asked > 1 and now.leads == shown.leads):
                check.leads = now.leads
                return
            if asked == MAX_ASKED:
                break
            reasons = (because("changed_since_asked"), *decision.reasons)
            new = {
                "id": self.inbox.next_id(),
                "reasons": reasons,
                "codes": tuple(reason.code for reason in reasons),
                "resolved": tuple(dict.fromkeys((*request.resolved, *now.changed(shown)))),
                "rule": None,
                "rules": (),
            }
            shown = now
            await self._put(check, request.model_copy(update=new))
        raise _refusal(
            f"{check.invocation.tool.name} was not run: what it touches keeps changing while the "
            "user is asked. Find out what changes it first."
        )

    async def require_same(self, check: PermissionCheck | None) -> None:
        """Just before it runs: refuse a command whose targets are not those the user approved."""
        if check is None or check.leads is None:
            return
        facts, _ = await self._judge(check)
        directory = check.context.state(ShellInfo).directory or check.context.workspace.root
        if where_it_leads(facts, directory) != check.leads:
            raise _refusal(
                f"{check.invocation.tool.name} was not run: what it touches changed since the "
                "user was asked. Look at it again, then retry."
            )

    async def _put(
        self,
        check: PermissionCheck,
        request: ApprovalRequest,
        is_covered: Callable[[], bool] | None = None,
    ) -> None:
        """Ask, and heed the answer."""
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
            raise self._unanswered(check, request.reasons)
        is_yes = answer.answer != "no" and (answer.answer != "confined" or request.confinable)
        if not is_yes:
            declined = f"The user declined this {check.invocation.tool.name} call."
            said = f" They said: {answer.reason}" if answer.reason else ""
            raise _refusal(declined + said, declined=True, words=answer.reason)
        # The mode may be another by now: a yes is no way around plan mode.
        assert check.facts is not None
        _refuse_denied(check, self.policy.decide(check.facts))
        for rule in request.rules:
            self._learn(rule, answer)

    def _unanswered(self, check: PermissionCheck, reasons: tuple[Reason, ...]) -> ToolFailure:
        self.unanswered += 1
        return _refusal(
            f"{check.invocation.tool.name} needs the user's permission "
            f"({_join(reasons)}), and nobody is there to ask. "
            "Continue without it, or say what you would need.",
            reasons=reasons,
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


async def _sandbox(context: ToolContext) -> Sandbox:
    try:
        return await context.session.sandbox.get()
    except SandboxUnavailable as error:
        raise ToolFailure(f"Commands cannot run: {error.message} {error.hint}") from error


def _refuse_denied(check: PermissionCheck, decision: Decision) -> None:
    if decision.effect is Effect.DENY:
        name, why = check.invocation.tool.name, _join(decision.reasons)
        raise _refusal(f"{name} is not permitted: {why}.", reasons=decision.reasons)


def _join(reasons: tuple[Reason, ...]) -> str:
    return "; ".join(map(str, reasons))


_refusal = partial(ToolFailure, type=FailureType.PERMISSION)
