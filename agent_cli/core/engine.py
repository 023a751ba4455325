"""What plays a session's turns: its parts wired together, and where their events go."""

import logging
from collections.abc import Callable, Mapping
from typing import Any

from agent_cli import __version__
from agent_cli.core.agents.active_profile import ActiveProfile
from agent_cli.core.agents.agent_profile import Profile, select_for_mode
from agent_cli.core.agents.delegation import Delegation
from agent_cli.core.compaction.by_hand import CompactionByHand
from agent_cli.core.deciding.gatekeeper import Gatekeeper
from agent_cli.core.events import Event, Notice, TurnFinished
from agent_cli.core.log.entries import ModeChanged, ModelChanged, SessionOpened
from agent_cli.core.loop import Turn
from agent_cli.core.model import Model, ModelRequest
from agent_cli.core.money.spending import Spending
from agent_cli.core.parts import Parts
from agent_cli.core.pipeline import Pipeline
from agent_cli.core.policy import Mode
from agent_cli.core.registry import Selection
from agent_cli.core.timeline import Timeline
from agent_cli.core.undo.checkpointer import Checkpointer
from agent_cli.core.upkeep import Upkeep
from agent_cli.core.user_command import UserCommand
from agent_cli.lib.language import tr

log = logging.getLogger(__name__)


class Engine:
    """Makes the turns of a session, and keeps and passes on what happens in them."""

    def __init__(self, parts: Parts, emit: Callable[[Event], None]) -> None:
        self._parts = parts
        self._emit = emit
        self._warnings: list[Notice] = []
        self.model = parts.models.get(parts.model)
        """The one in use."""
        self.spending = Spending.from_history(parts.history)
        self.timeline = Timeline(parts.store, parts.history, self._warn)
        self.timeline.begin(self._open(), parts.history)
        self.pipeline = self._new_pipeline()
        self.upkeep = Upkeep(
            parts,
            conversation=self.timeline.conversation,
            memory=self.timeline.memory,
            spending=self.spending,
            emit=self.tell,
            model=lambda: self.model,
            request=self.request,
        )
        budget = self.upkeep.budget_guard.budget
        self.pipeline.send = Delegation(
            parts=parts,
            conversation=self.timeline.conversation,
            accounting=self.upkeep.accounting,
            budget=budget,
            model=lambda: self.model,
            emit=self.tell,
        ).send
        self._active_profile = ActiveProfile(
            mode=(lambda: parts.policy.mode, self.set_mode),
            model=(lambda: self.model.name, self.use_model),
            budget=budget,
        )
        for problem in parts.profiles.problems:
            self._warn(problem)
        for error in parts.stand_ins(self.model.name)[1]:
            text = tr("A fallback model cannot be used: {reason}", reason=error.message)
            self._warn(text, error.hint)
        self.wear(parts.profile)

    @property
    def profile(self) -> Profile:
        """The role the agent plays."""
        return self._active_profile.profile

    @property
    def offered(self) -> Selection:
        """The tools for the model: in plan mode, those that change nothing."""
        return select_for_mode(self._parts.policy.mode, self.pipeline.selection)

    def wear(self, profile: Profile) -> None:
        """Play another role; raises UserError."""
        self._active_profile.change(profile)
        self.pipeline.selection = profile.narrow(self._parts.selection, self._parts.registry)

    def use_model(self, name: str) -> None:
        """Use another model, from the next turn."""
        self.model = self._parts.models.get(name)
        self.timeline.journal.add(ModelChanged(model=name))

    def set_mode(self, mode: Mode) -> None:
        """Change the permission mode, from the next call."""
        self._parts.policy.mode = mode
        self.timeline.journal.add(ModeChanged(mode=mode.value))

    def turn(self, number: int) -> Turn:
        """A turn of the model."""
        return self.upkeep.turn(number, self.pipeline, self._switch)

    def own_command(
        self, number: int, command: str, tool: str, options: Mapping[str, Any]
    ) -> UserCommand:
        """A command the user typed."""
        return UserCommand(
            command=command,
            tool=tool,
            options=options,
            number=number,
            session_id=self._parts.view.id,
            model=self.model.name,
            conversation=self.timeline.conversation,
            pipeline=self.pipeline,
            emit=self.tell,
        )

    def compaction(self, number: int, focus: str) -> CompactionByHand:
        """A compaction the user asked for."""
        return CompactionByHand(
            focus=focus,
            number=number,
            session_id=self._parts.view.id,
            model=self.model.name,
            compactor=self.upkeep.compactor,
            inbox=self._parts.inbox,
            emit=self.tell,
        )

    def request(self) -> ModelRequest:
        """The next request of the session's own conversation."""
        said = self.timeline.conversation.messages
        return self._parts.request(said, self.offered, self.profile.prompt)

    def tell(self, event: Event) -> None:
        """Write an event down, then show it; a turn's first and last event stay what they are."""
        self.timeline.journal.note(event)
        notices, self._warnings = self._warnings, []
        is_last = isinstance(event, TurnFinished)
        events: list[Event] = [*notices, event] if is_last else [event, *notices]
        for each in events:
            for see in (*(o.see for o in self._parts.observers), self._parts.hooks.see):
                try:
                    see(each)
                except Exception:  # whoever looks on must not end the turn
                    log.exception("an observer failed")
            self._emit(each)

    def _new_pipeline(self) -> Pipeline:
        parts = self._parts
        gatekeeper = Gatekeeper(
            policy=parts.policy,
            inbox=parts.inbox,
            emit=self.tell,
            kept_rules=parts.kept_rules,
            undo_room=lambda: parts.checkpoints.room,
        )
        return Pipeline(
            registry=parts.registry,
            gatekeeper=gatekeeper,
            keeper=Checkpointer(parts.checkpoints, gatekeeper, self.tell),
            session=parts.view,
            recorder=parts.recorder,
            result_filter=parts.result_filter,
            emit=self.tell,
            model=lambda: self.model,
            hooks=parts.hooks,
            selection=parts.selection,
        )

    def _switch(self, name: str) -> Model:
        self.use_model(name)
        return self.model

    def _open(self) -> SessionOpened:
        return SessionOpened(
            session=self._parts.view.id,
            workspace=self._parts.view.workspace.root,
            model=self.model.name,
            mode=self._parts.policy.mode.value,
            program=__version__,
        )

    def _warn(self, text: str, hint: str = "") -> None:
        self._warnings.append(Notice(level="warning", text=text, hint=hint))
