"""What a session is made of."""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agent_cli.core.agents.agent_profile import DEFAULT, Profile, Profiles
from agent_cli.core.errors import UserError
from agent_cli.core.extension_protocol import Extensions
from agent_cli.core.hook_protocol import Hooks
from agent_cli.core.inbox import Inbox
from agent_cli.core.log.history import History
from agent_cli.core.log.store import Observer, Recorder, RuleStore, Store
from agent_cli.core.messages import Message
from agent_cli.core.model import Model, ModelRequest, Models
from agent_cli.core.money.statistics import Statistics
from agent_cli.core.policy import Policy
from agent_cli.core.registry import DEFAULT_SELECTION, Registry, Selection
from agent_cli.core.result_filter import ResultFilter
from agent_cli.core.retry_policy import RetryPolicy
from agent_cli.core.tool_context import SessionView
from agent_cli.core.undo.checkpoint import Checkpoints, NoCheckpoints


def new_session_id() -> str:
    """A fresh id."""
    return uuid.uuid4().hex[:12]


@dataclass(frozen=True, kw_only=True)
class AgentLimits:
    """How many agents may be sent to do something."""

    depth: int = 1
    """1: an agent that was sent sends no others; 0: none is sent."""
    parallel: int = 4
    per_turn: int = 20


@dataclass(frozen=True, kw_only=True)
class UpkeepSettings:
    """How much may be spent and filled."""

    session: float | None = None
    """Dollars in this session."""
    day: float | None = None
    """Dollars in a day, over all sessions."""
    others_today: Callable[[], float] = lambda: 0.0
    """What other sessions have spent today."""
    compact_at: float = 0.8
    """The share of the window at which the conversation is shortened."""
    automatic: bool = True
    fast_model: str = ""
    """Writes titles and summaries; empty: the model in use does."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What a session is made of; the composition root puts it together."""

    view: SessionView
    models: Models
    model: str
    fallbacks: Sequence[str] = ()
    registry: Registry
    policy: Policy
    inbox: Inbox
    recorder: Recorder
    observers: Sequence[Observer] = ()
    statistics: Callable[[], Statistics] = Statistics
    """What was counted today, over all sessions."""
    store: Store
    result_filter: ResultFilter
    system_prompt: str
    checkpoints: Checkpoints = field(default_factory=NoCheckpoints)
    """What is needed to take calls back."""
    kept_rules: RuleStore
    """Where "always in this project" is kept."""
    extensions: Extensions
    """What others add."""
    hooks: Hooks
    """What is asked before each call, and told of what happens."""
    selection: Selection = DEFAULT_SELECTION
    profiles: Profiles = Profiles()
    """The roles an agent can play."""
    profile: Profile = DEFAULT
    """The role the session begins with."""
    agent_limits: AgentLimits = AgentLimits()
    max_steps: int = 200
    """How many steps one turn may have."""
    upkeep_settings: UpkeepSettings = UpkeepSettings()
    retry: RetryPolicy = RetryPolicy()
    history: History = History()
    """What the store holds already, when the session is resumed."""

    def request(
        self, messages: tuple[Message, ...], offered: Selection, *prompts: str
    ) -> ModelRequest:
        """The next request: an unchanging beginning, then the history as it grew."""
        system = "\n\n".join(filter(None, (self.system_prompt, *prompts)))
        return ModelRequest(system, messages, tuple(self.registry.declarations(offered)))

    def stand_ins(self, model: str) -> tuple[list[Model], list[UserError]]:
        """The models that take over when this one fails, and why others cannot."""
        found: list[Model] = []
        problems: list[UserError] = []
        for name in self.fallbacks:
            if name != model:
                try:
                    found.append(self.models.get(name))
                except UserError as error:
                    problems.append(error)
        return found, problems
