"""Whether a call may run, in practice: judge it, look closer where that helps, ask the person."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from agent_cli.core.deciding.briefing import brief
from agent_cli.core.deciding.facts import as_a_look
from agent_cli.core.deciding.judge import Judgement, judge
from agent_cli.core.deciding.offer import offered_rule
from agent_cli.core.display import Display, TerminalBlock
from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.core.events import (
    ApprovalAnswered,
    Event,
    Notice,
    PlanAnswered,
)
from agent_cli.core.inbox import Approval, ApprovalRequest, Inbox, PlanAnswer, PlanRequest
from agent_cli.core.log.store import Nowhere, RuleStore
from agent_cli.core.permissions import Decision, Effect, Facts, Mode, Policy
from agent_cli.core.tool import Invocation
from agent_cli.core.tool_context import ShellStanding, ToolContext
from agent_cli.lib.language import tr
from agent_cli.lib.text import listed
from agent_cli.safety.sandbox import Tier

AnyInvocation = Invocation[Any]


@dataclass
class Hearing:
    """One call before the authority, and what has been found out about it so far."""

    invocation: AnyInvocation
    context: ToolContext
    mode: str
    judgement: Judgement | None = None
    answer: str | None = None
    doubt: str = ""
    """Why a hook wants the person asked, whatever the rules say."""


@dataclass
class Authority:
    """Lets calls through, or says why not."""

    policy: Policy
    inbox: Inbox
    emit: Callable[[Event], None]
    kept_rules: RuleStore = field(default_factory=Nowhere)
    undo_room: int = 0
    """How many bytes can be kept before a call, so that it can be taken back."""
    unanswered: int = 0
    """Calls denied because nobody could be asked."""
    agent: str = ""
    """Whose calls these are, when it is not the session itself."""
    _covered: dict[str, Callable[[], bool]] = field(default_factory=dict)
    """By the id of an open request: whether the rules allow its call by now."""

    async def permit(self, hearing: Hearing) -> AnyInvocation:
        """The call as it may run; otherwise raises a failure that says why not."""
        judgement = await self._judge(hearing)
        discover = hearing.invocation.tool.discover
        may_look = (
            discover is not None
            and judgement.decision.effect is not Effect.DENY
            and self.policy.decide(as_a_look(judgement.facts)).effect is Effect.ALLOW
        )
        if may_look:
            judgement = await self._look(hearing)
        if judgement.decision.effect is Effect.ALLOW:
            return hearing.invocation
        self._refuse(hearing, judgement)
        covered = partial(self._is_covered, judgement.facts)
        await self._ask(hearing, judgement, None if hearing.doubt else covered)
        if discover is not None and not may_look:
            # What the person could not be shown by name is still held against the rules.
            self._refuse_denied(hearing, await self._look(hearing))
        return hearing.invocation

    async def present(self, call_id: str, plan: str) -> PlanAnswer:
        """Show the person a plan; only their yes ends plan mode."""
        if not self.inbox.attended:
            raise _not_permitted(
                tr("Nobody is there to approve a plan. Give it as your answer and end your turn.")
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

    async def may_run_outside(self, hearing: Hearing, why: str) -> bool:
        """Whether the person lets a command that failed in the sandbox run again without it."""
        if not self.inbox.attended or hearing.judgement is None:
            return False
        reasons = (
            tr("it failed in the sandbox: {why}", why=tr(why)),
            tr("this runs it again without the sandbox"),
        )
        outside = Decision(Effect.ASK, reasons)
        try:
            await self._ask(hearing, replace(hearing.judgement, decision=outside))
        except ToolFailure:
            return False
        return True

    async def confirm(self, hearing: Hearing, reason: str) -> None:
        """Ask about a call that needed no question until now; a no is a failure."""
        assert hearing.judgement is not None
        asked = Decision(Effect.ASK, (reason,))
        await self._ask(hearing, replace(hearing.judgement, decision=asked))

    async def _judge(self, hearing: Hearing) -> Judgement:
        context = hearing.context
        if self.policy.mode is Mode.AUTO:
            self.policy.confines = (await context.session.sandbox.get()).confines
        shell = context.state(ShellStanding)
        judgement = await judge(hearing.invocation, context.workspace, shell, self.policy)
        if hearing.doubt and judgement.decision.effect is not Effect.DENY:
            judgement = replace(judgement, decision=_doubted(judgement.decision, hearing.doubt))
        hearing.judgement = judgement
        return judgement

    async def _look(self, hearing: Hearing) -> Judgement:
        """Let the tool find out what it would touch, and judge that."""
        invocation = hearing.invocation
        assert invocation.tool.discover is not None
        found = await invocation.tool.discover(invocation.params, hearing.context)
        hearing.invocation = replace(invocation, found=found)
        return await self._judge(hearing)

    def _refuse(self, hearing: Hearing, judgement: Judgement) -> None:
        self._refuse_denied(hearing, judgement)
        if not self.inbox.attended:
            self.unanswered += 1
            raise _not_permitted(
                tr(
                    "{tool} needs the person's permission ({reasons}), and nobody is there to ask. "
                    "Go on without it, or say what you would need.",
                    tool=hearing.invocation.tool.name,
                    reasons=listed(judgement.decision.reasons),
                )
            )

    @staticmethod
    def _refuse_denied(hearing: Hearing, judgement: Judgement) -> None:
        if judgement.decision.effect is Effect.DENY:
            name, why = hearing.invocation.tool.name, listed(judgement.decision.reasons)
            raise _not_permitted(tr("{tool} is not permitted: {reason}.", tool=name, reason=why))

    def _is_covered(self, facts: Facts) -> bool:
        """Whether no question would be asked about this by now."""
        decision = self.policy.decide(facts)
        return decision.effect is Effect.ALLOW and not decision.confined

    async def _ask(
        self,
        hearing: Hearing,
        judgement: Judgement,
        is_covered: Callable[[], bool] | None = None,
    ) -> None:
        """Return on a yes; a no is a failure with the user's words.

        `is_covered` tells whether a rule learnt meanwhile answers the question.
        """
        request = await self._request(hearing, judgement)
        if is_covered is not None:
            self._covered[request.id] = is_covered
        try:
            answer = await self.inbox.approval(request, self.emit)
        finally:
            self._covered.pop(request.id, None)
        hearing.answer = answer.answer
        self.emit(
            ApprovalAnswered(
                request_id=request.id,
                call_id=request.call_id,
                answer=answer.answer,
                reason=answer.reason,
            )
        )
        if answer.answer == "no":
            raise _not_permitted(_refusal(hearing.invocation.tool.name, answer.reason))
        if request.rule:
            self._learn(request.rule, answer)

    async def _request(self, hearing: Hearing, judgement: Judgement) -> ApprovalRequest:
        invocation, context = hearing.invocation, hearing.context
        tool, params = invocation.tool, invocation.params
        facts, session = judgement.facts, context.session
        briefing = await brief(
            facts, invocation.targets, session.workspace, session.environment, self.undo_room
        )
        return ApprovalRequest(
            id=self.inbox.next_id(),
            call_id=context.call_id,
            tool=tool.display_name,
            title=invocation.title,
            reasons=judgement.decision.reasons,
            targets=tuple(dict.fromkeys(target.value for target in invocation.targets)),
            preview=await tool.preview(params, context) if tool.preview else _command(invocation),
            description=str(getattr(params, "description", "") or ""),
            consequences=briefing.consequences,
            steps=briefing.steps,
            resolved=briefing.resolved,
            odd=briefing.odd,
            undo=briefing.undo,
            network=briefing.network,
            directory=context.state(ShellStanding).directory or session.workspace.root,
            sandbox=await _sandbox(context, judgement.decision),
            rule=offered_rule(invocation, facts, self.policy),
            agent=self.agent,
        )

    def _learn(self, rule: str, answer: Approval) -> None:
        """Allow it from now on, if the person said so; for the project, keep it."""
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
                "The rule {rule} holds for this session only: it could not be kept ({error}).",
                rule=rule,
                error=error,
            )
            self.emit(Notice(level="warning", text=said))


def _doubted(decision: Decision, doubt: str) -> Decision:
    reasons = decision.reasons if decision.effect is Effect.ASK else ()
    return replace(decision, effect=Effect.ASK, reasons=(*reasons, doubt))


def _refusal(tool: str, reason: str) -> str:
    if not reason:
        return tr("The person did not permit this {tool} call.", tool=tool)
    return tr(
        "The person did not permit this {tool} call. The person said: {reason}",
        tool=tool,
        reason=reason,
    )


def _not_permitted(message: str) -> ToolFailure:
    return ToolFailure(message, type=FailureType.PERMISSION)


async def _sandbox(context: ToolContext, decision: Decision) -> str:
    """What would confine the call if it ran as it was decided about."""
    if not decision.confined:
        return Tier.NONE.value
    return (await context.session.sandbox.get()).tier.value


def _command(invocation: AnyInvocation) -> Display | None:
    """The command of a call that is about one, as it will run."""
    for target in invocation.targets:
        if target.kind == "command":
            return TerminalBlock(command=target.value, output="")
    return None
