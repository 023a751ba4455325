"""Hands work to other agents of the same session.

Each has a conversation, a shell and a window of its own. Registry, rules, questions, audit log and
checkpoints are the session's: an agent's calls take the same way as any other, and it may never do
more than whoever sent it. It runs inside the call that sent it, so what ends that call ends it.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from agent_cli.core import events as ev
from agent_cli.core.agents.agent_profile import Profile, select_for_mode
from agent_cli.core.agents.agent_task import CATEGORY, AgentReport, AgentTask
from agent_cli.core.errors import ToolFailure, UserError
from agent_cli.core.log.journal import Journal
from agent_cli.core.log.store import NullStore
from agent_cli.core.loop import Turn
from agent_cli.core.memory import Memory
from agent_cli.core.message_history import Conversation
from agent_cli.core.messages import AssistantMessage
from agent_cli.core.model import Model, ModelRequest, Usage
from agent_cli.core.money.accounting import Accounting
from agent_cli.core.money.budget import Budget, OutOfBudget
from agent_cli.core.money.spending import Spending
from agent_cli.core.parts import Parts
from agent_cli.core.pipeline import Pipeline, ReportProgress
from agent_cli.core.tool_context import SessionState
from agent_cli.core.upkeep import Upkeep
from agent_cli.lib.language import tr

Count = Callable[[str, Usage], None]
SESSION_ONLY_CATEGORY = "planning"
"""The category of tools that speak with the user; a sub-agent has nobody to ask."""
AGENT_INSTRUCTIONS = """\
# Your task
Another agent sent you. The first message is all you know of the matter, and nobody answers \
questions: decide by yourself and say what you assumed. Your last message is all that is handed \
back, so it must say what you found or did, with files and lines, and what remains open."""


STOPPED: dict[ev.FinishReason, str] = {
    "interrupted": "it was interrupted.",
    "failed": "its model failed.",
    "temporary": "its model did not answer.",
    "step_limit": "it reached the limit of steps.",
    "repetition": "it made the same call over and over.",
    "denied": "too many of its calls were not permitted.",
}
"""Why an agent ended too early, for the model that sent it."""


@dataclass
class AgentBudget:
    """Stops the agent when its own money or the session's is spent; only the session asks."""

    own: Budget
    session: Budget

    async def check(self) -> str | None:
        """Never chooses a model; what it says is for the model that sent the agent."""
        for whose, budget in (("session", self.session), ("profile", self.own)):
            for each in budget.allowances():
                if each.share >= 1:
                    amounts = f"${each.spent:.2f} of ${each.limit:.2f}"
                    raise OutOfBudget(f"The {whose}'s budget is used up: {amounts}.")
        return None

    def tell(self) -> None:
        """The session tells of its budget itself."""


@dataclass
class Delegation:
    """Sends agents, not too many and not too deep."""

    parts: Parts
    conversation: Conversation
    """The session's own."""
    accounting: Accounting
    budget: Budget
    model: Callable[[], Model]
    """The one in use."""
    emit: Callable[[ev.Event], None]
    _rooms: dict[int, asyncio.Semaphore] = field(default_factory=dict)
    _turn: int = 0
    _sent: int = 0

    async def send(
        self,
        within: Pipeline,
        call_id: str,
        agent_task: AgentTask,
        progress: ReportProgress,
        *,
        depth: int = 1,
        count: Count | None = None,
    ) -> AgentReport:
        """Have an agent do something; `within` is the pipeline of the one that sends it, and
        `count` counts what it uses to that one too."""
        limits = self.parts.agent_limits
        if depth > limits.depth:
            raise ToolFailure("An agent that was sent may not send others. Do it yourself.")
        if within.keeper.turn != self._turn:
            self._turn, self._sent = within.keeper.turn, 0
        if self._sent >= limits.per_turn:
            raise ToolFailure(
                f"{self._sent} agents were sent in this turn, which is the limit. Do it yourself."
            )
        profile = self.parts.profiles.by_name.get(agent_task.profile)
        if profile is None:
            known = ", ".join(self.parts.profiles.by_name)
            raise ToolFailure(
                f"There is no profile named {agent_task.profile}; there are: {known}."
            )
        try:
            model = self.parts.models.get(profile.model) if profile.model else self.model()
        except UserError as error:
            raise ToolFailure(f"The profile's model {profile.model} cannot be used.") from error
        self._sent += 1
        # One room for each depth: those who wait for others must not take their place.
        room = self._rooms.setdefault(depth, asyncio.Semaphore(limits.parallel))
        async with room:
            count = count or self.accounting.count_aside
            agent = _Agent(self, within, call_id, profile, model, progress, depth, count)
            return await agent.run(agent_task.prompt)


@dataclass
class _Agent:
    """One agent with one task."""

    home: Delegation
    within: Pipeline
    call_id: str
    profile: Profile
    model: Model
    progress: ReportProgress
    depth: int
    count: Count
    _spending: Spending = field(default_factory=Spending)
    _calls: int = 0
    _end: ev.TurnFinished | None = None

    def __post_init__(self) -> None:
        journal = Journal(NullStore(), warn=lambda _text, _hint: None)
        self._conversation = Conversation(journal, home=self.home.conversation)
        self._memory = Memory(self._conversation, journal, NullStore())
        self._pipeline = self._own_pipeline()

    async def run(self, prompt: str) -> AgentReport:
        """Play its one turn."""
        turn = self._turn()
        try:
            await turn.run(prompt)
        finally:
            self.within.gatekeeper.unanswered += self._pipeline.gatekeeper.unanswered
            await self._pipeline.state.close()
        assert self._end is not None
        end = self._end
        error = turn.error if end.reason == "cost_limit" else STOPPED.get(end.reason, "")
        text = end.text or self._last_words()
        return AgentReport(text=text, error=error, calls=self._calls, usage=end.usage)

    def _own_pipeline(self) -> Pipeline:
        within, depth, limit = self.within, self.depth, self.home.parts.agent_limits.depth
        sender = within.gatekeeper
        policy = replace(sender.policy, sender=sender.policy, own_mode=self.profile.mode)
        policy.follow()
        gatekeeper = replace(
            sender, policy=policy, emit=self._tell, unanswered=0, agent=self.profile.name
        )
        left_out = {SESSION_ONLY_CATEGORY} | ({CATEGORY} if depth >= limit else set())
        selection = self.profile.narrow(within.selection, within.registry)
        return replace(
            within,
            gatekeeper=gatekeeper,
            keeper=replace(within.keeper, gatekeeper=gatekeeper, emit=self._tell),
            emit=self._tell,
            model=lambda: self.model,
            state=SessionState(),
            selection=replace(selection, without=selection.without | left_out),
            send=partial(self.home.send, depth=depth + 1, count=self._count_below),
        )

    def _count_below(self, model: str, usage: Usage) -> None:
        """What an agent of this agent used."""
        self._spending.add(model, usage, aside=True)
        self.count(model, usage)

    def _turn(self) -> Turn:
        upkeep = Upkeep(
            self.home.parts,
            conversation=self._conversation,
            memory=self._memory,
            spending=self._spending,
            emit=self._tell,
            model=lambda: self.model,
            request=self._request,
        )
        budget = AgentBudget(Budget(self._spending, self.profile.budget), self.home.budget)
        number, use_model = self.within.keeper.turn, self.home.parts.models.get
        return upkeep.turn(number, self._pipeline, use_model, budget)

    def _request(self) -> ModelRequest:
        pipeline, said = self._pipeline, self._conversation.messages
        offered = select_for_mode(pipeline.gatekeeper.policy.mode, pipeline.selection)
        return self.home.parts.request(said, offered, AGENT_INSTRUCTIONS, self.profile.prompt)

    def _last_words(self) -> str:
        said = reversed(self._conversation.messages)
        return next((m.text for m in said if isinstance(m, AssistantMessage) and m.text), "")

    def _tell(self, event: ev.Event) -> None:
        """Of what the agent goes through, what the session's own turn has a place for."""
        match event:
            case ev.ToolStarted():
                self._calls += 1
                self.progress(f"{event.tool} {event.title}".rstrip() + "\n")
                parent = event.parent_id or self.call_id
                told = event.model_copy(update={"parent_id": parent, "is_folded": True})
                self.home.emit(told)
            case ev.ApprovalAsked():
                self.progress(tr("{tool} is waiting for you\n", tool=event.request.tool))
                self.home.emit(event)
            case ev.ToolFinished() | ev.ApprovalAnswered() | ev.RequestWithdrawn():
                self.home.emit(event)
            case ev.UsageChanged():
                self.count(event.model, event.step)
            case ev.Notice():
                text = f"{self.profile.name}: {event.text}"
                self.home.emit(event.model_copy(update={"text": text}))
            case ev.ModelRetrying():
                self.progress(tr("{reason} Retrying.\n", reason=event.reason))
            case ev.TurnFinished():
                self._end = event
