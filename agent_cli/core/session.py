"""A session: the only door for frontends.

    async with aclosing(session.run("make the tests pass")) as events:
        async for event in events:
            ...

While a turn runs, `reply` answers what was asked, `steer` adds a message, `interrupt` ends it.
Closing the generator cancels the turn, and waits until everything it started has ended.
"""

import asyncio
import shutil
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from functools import partial
from typing import Any

from agent_cli.core.agents.agent_profile import Profile
from agent_cli.core.deciding.rules import Rules
from agent_cli.core.engine import Engine
from agent_cli.core.errors import UserError
from agent_cli.core.events import Event
from agent_cli.core.inbox import Request
from agent_cli.core.log.history import History
from agent_cli.core.log.titling import ask_for_title
from agent_cli.core.loop import Turn
from agent_cli.core.messages import Content, Message
from agent_cli.core.model import ModelFacts, Usage
from agent_cli.core.parts import Parts
from agent_cli.core.policy import Mode
from agent_cli.core.prompt_template import PromptTemplate
from agent_cli.core.tool import AnyTool
from agent_cli.core.turn_runner import TurnRunner
from agent_cli.core.undo.undoing import Undoing
from agent_cli.lib.closing import close_all
from agent_cli.lib.language import tr
from agent_cli.safety.sandbox import SandboxUnavailable


class Session:
    """One conversation with one agent."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._runner = TurnRunner(turns=parts.history.turns)
        self._engine = Engine(parts, self._runner.emit)
        self._timeline = self._engine.timeline
        self._turn: Turn | None = None
        self.id = parts.view.id
        self.past = parts.history
        """What the session held when it was resumed."""
        self.memory = self._timeline.memory
        """Pins, and what can be called back."""
        self.spending = self._engine.spending
        """What the session used so far, by model and by turn."""
        self.profiles = parts.profiles
        """The roles the agent could play."""
        self.workspace = parts.view.workspace
        """Where the session works."""
        self.sandbox = parts.view.sandbox
        """What can confine commands."""
        self.extensions = parts.extensions
        """What others add to the session."""
        self.has_fast_model = bool(parts.upkeep_settings.fast_model)
        """Whether there is a cheaper model for small things."""
        self.undoing = Undoing(
            parts.checkpoints,
            is_running=lambda: self.is_running,
            turn=lambda: self._runner.turns,
            tell_model=self._timeline.conversation.tell_model,
            entries=parts.store.entries,
        )
        """Undo, redo and going back."""
        self.redact = parts.result_filter.redact
        """A text without the secrets that are known here."""
        self.state = self._engine.pipeline.state.get
        """A tool's own memory of this session."""
        self.statistics = parts.statistics
        """What was counted today, over all sessions."""
        self.fill = self._engine.upkeep.fill
        """What the next request would fill the model's window with, in tokens."""
        self.reply = parts.inbox.reply
        """Answer what was asked; False if it does not wait (any more)."""
        self.stop_asking = parts.inbox.stop_asking
        """Nobody is there to answer from now on."""
        self.interrupt = self._runner.interrupt
        """End the turn at once; False if none runs."""
        self.use_model = self._engine.use_model
        """Use another model, from the next turn."""
        self.set_mode = self._engine.set_mode
        """Change the permission mode, from the next call."""
        self.history = self._timeline.read
        """The session as its log tells it."""
        self.note = self._timeline.journal.note
        """Keep what a frontend tells the user, so that it is there again after a resume."""
        self.rename = self._timeline.rename
        """Give the session a title."""

    @property
    def title(self) -> str:
        """What the session is called; empty: nothing yet."""
        return self._timeline.title

    @property
    def is_kept(self) -> bool:
        """Whether something was said, so that it can be resumed."""
        return self._timeline.journal.has_begun

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation so far."""
        return self._timeline.conversation.messages

    @property
    def usage(self) -> Usage:
        """What the session used so far."""
        return self.spending.total

    @property
    def model(self) -> str:
        """The name of the model in use."""
        return self._engine.model.name

    @property
    def mode(self) -> Mode:
        """The permission mode."""
        return self._parts.policy.mode

    @property
    def profile(self) -> Profile:
        """The role the agent plays."""
        return self._engine.profile

    @property
    def waiting(self) -> tuple[Request, ...]:
        """What waits for the user's answer."""
        return self._parts.inbox.waiting

    @property
    def tools(self) -> list[AnyTool]:
        """The tools the model is offered."""
        return self._parts.registry.select(self._engine.offered)

    @property
    def rules(self) -> Rules:
        """The permission rules in force."""
        return self._parts.policy.rules

    @property
    def context_tokens(self) -> int:
        """How many tokens the last request had."""
        return self.spending.last.input_tokens

    def start_extensions(self, tell: Callable[[Event], None]) -> None:
        """Load extensions in the background; `tell` takes their notices and questions."""
        self.extensions.start(tell, lambda: self.is_running)

    @property
    def is_running(self) -> bool:
        """Whether a turn is running."""
        return self._runner.is_running

    def run(self, prompt: Content | PromptTemplate | None) -> AsyncGenerator[Event, None]:
        """Play one turn, ending with TurnFinished. Without a prompt, retry the last one."""

        def begin(number: int) -> Coroutine[Any, Any, None]:
            self.extensions.turn_begins()
            self._turn = self._engine.turn(number)
            return self._turn.run(prompt)

        return self._follow(begin)

    def run_own(
        self, command: str, *, tool: str, options: Mapping[str, Any] | None = None
    ) -> AsyncGenerator[Event, None]:
        """Run a command the user typed, unasked, with events like those of a turn.

        `tool` is the tool that runs commands. The model hears of it in the next turn.
        """
        given = options or {}
        return self._follow(lambda n: self._engine.own_command(n, command, tool, given).run())

    def compact(self, focus: str = "") -> AsyncGenerator[Event, None]:
        """Shorten the conversation if the user agrees, with events like those of a turn.

        `focus` is what the summary must not forget.
        """
        return self._follow(lambda number: self._engine.compaction(number, focus).run())

    def _follow(
        self, begin: Callable[[int], Coroutine[Any, Any, None]]
    ) -> AsyncGenerator[Event, None]:
        def start() -> Coroutine[Any, Any, None]:
            self._engine.pipeline.keeper.begin(self._runner.turns)
            return begin(self._runner.turns)

        def end() -> None:
            self._turn = None
            self._timeline.journal.sync()

        return self._runner.follow(start, end, self._engine.tell)

    async def prepare(self) -> None:
        """Find out what a first turn must not stumble over; raises UserError."""
        try:
            sandbox = await self._parts.view.sandbox.get()
        except SandboxUnavailable as error:
            raise UserError(error.message, hint=error.hint) from error
        if self.mode is Mode.AUTO and not sandbox.confines:
            raise UserError(
                tr("Auto mode needs a sandbox: {reason}.", reason=sandbox.reason),
                hint=tr("Install bubblewrap, or choose another --permission-mode."),
            )

    async def warm(self) -> None:
        """Get the model ready while the user still thinks."""
        await self._parts.models.warm(self.model)

    async def describe_model(self) -> ModelFacts:
        """What is known of the model in use; it may take as long as loading it."""
        return await self._engine.upkeep.facts(self.model)

    def steer(self, text: str) -> bool:
        """Tell the model something before its next step; False if the turn is over."""
        if self._turn is None or self._turn.is_over:
            return False
        self._turn.steering.append(text)
        return True

    def use_profile(self, name: str) -> None:
        """Play another role from the next turn; raises UserError."""
        profile = self.profiles.get(name)
        self._runner.refuse_while_running()
        self._engine.wear(profile)

    def forget(self) -> None:
        """Begin a new conversation: nothing said so far is sent any more."""
        self._timeline.forget()
        self.spending.last = Usage()

    def rewind(self, to: str, reason: str = "") -> History:
        """Go on from an earlier entry of the log; returns the session as it is then."""
        history = self._timeline.rewind(to, reason)
        self.spending.last = history.last
        return history

    async def make_title(self) -> str:
        """Have the fast model give the session a title; raises ModelError."""
        model = self._parts.models.get(self._parts.upkeep_settings.fast_model or self.model)
        title, used = await ask_for_title(model, self.messages)
        self._engine.upkeep.accounting.count_aside(model.name, used)
        if title:
            self.rename(title, by="model")
        return title

    async def close(self) -> None:
        """End the turn, what tools left running, and the models; all of it, whatever fails."""
        parts = self._parts
        await close_all(
            self._runner.cancel,
            parts.hooks.close,
            self.extensions.close,
            self._engine.pipeline.state.close,
            partial(asyncio.to_thread, parts.checkpoints.close),
            parts.models.close,
            *(partial(asyncio.to_thread, observer.close) for observer in parts.observers),
            parts.recorder.close,
            parts.store.close,
            partial(shutil.rmtree, parts.view.temporary or "", ignore_errors=True),
        )
