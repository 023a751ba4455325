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
from typing import Any, Literal, TypeVar

from agent_cli import __version__
from agent_cli.core.agents.delegation import Delegation
from agent_cli.core.agents.profile import Profile, Profiles, offered_in
from agent_cli.core.agents.wearing import Wearing
from agent_cli.core.compacting.by_hand import CompactionByHand
from agent_cli.core.context import Fill
from agent_cli.core.conversation import Conversation
from agent_cli.core.deciding.gatekeeper import Gatekeeper
from agent_cli.core.deciding.rules import Rules
from agent_cli.core.errors import UserError
from agent_cli.core.events import Event, Notice, TurnFinished
from agent_cli.core.extensions import Extensions
from agent_cli.core.housekeeping import Housekeeping
from agent_cli.core.inbox import Answer, Request
from agent_cli.core.log.entries import ModeChanged, ModelChanged, Opened, Titled
from agent_cli.core.log.history import History, read_history
from agent_cli.core.log.journal import Journal
from agent_cli.core.log.titling import as_title, ask_for_title
from agent_cli.core.loop import Turn
from agent_cli.core.memory import Memory
from agent_cli.core.messages import Content, Message, UserMessage
from agent_cli.core.model import Model, ModelFacts, ModelRequest, Usage
from agent_cli.core.money.spending import Spending
from agent_cli.core.money.statistics import Statistics
from agent_cli.core.own import OwnCommand
from agent_cli.core.parts import Parts
from agent_cli.core.permissions import Mode
from agent_cli.core.pipeline import Pipeline
from agent_cli.core.registry import Selection
from agent_cli.core.tool import AnyTool
from agent_cli.core.undo.keeping import Keeper
from agent_cli.core.undo.undoing import Undoing
from agent_cli.core.written import Written
from agent_cli.lib.language import tr
from agent_cli.safety.paths import Workspace
from agent_cli.safety.sandbox import SandboxChoice, SandboxUnavailable

S = TypeVar("S")


class Session:
    """One conversation with one agent."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        try:
            self._model = parts.models.get(parts.model)
        except UserError:
            parts.store.close()  # another try may open the same session
            raise
        self.spending = Spending.resumed(parts.history)
        """What the session used so far, by model and by turn."""
        self._turns = parts.history.turns
        self._title = parts.history.title
        self._turn: Turn | None = None
        self._task: asyncio.Task[None] | None = None
        self._emit: Callable[[Event], None] = lambda _event: None
        self._warnings: list[Notice] = []
        self._journal = Journal(
            parts.store, root=parts.history.root, head=parts.history.head, warn=self._warn
        )
        self._conversation = Conversation(self._journal, parts.history.messages)
        self.memory = Memory(self._conversation, self._journal, parts.store, parts.history.pins)
        """Pins, and what can be called back."""
        self._begin()
        authority = Gatekeeper(
            policy=parts.policy,
            inbox=parts.inbox,
            emit=self._tell,
            kept_rules=parts.kept_rules,
            undo_room=parts.checkpoints.room,
        )
        self._keeper = Keeper(parts.checkpoints, authority, self._tell)
        self._pipeline = Pipeline(
            registry=parts.registry,
            authority=authority,
            keeper=self._keeper,
            session=parts.view,
            recorder=parts.recorder,
            outgoing=parts.outgoing,
            emit=self._tell,
            model=lambda: self._model,
            hooks=parts.hooks,
            selection=parts.selection,
        )
        self.undoing = Undoing(
            parts.checkpoints,
            is_running=lambda: self.is_running,
            turn=lambda: self._turns,
            tell_model=self._tell_model,
            entries=parts.store.entries,
        )
        """Undo, redo and going back."""
        household = parts.household(
            conversation=self._conversation,
            memory=self.memory,
            emit=self._tell,
            model=lambda: self._model,
            request=self._request,
        )
        self._housekeeping = Housekeeping(parts.economy, household, self.spending)
        self._pipeline.send = self._delegation().send
        self._wearing = Wearing(
            mode=(lambda: self.mode, self.set_mode),
            model=(lambda: self.model, self.use_model),
            budget=self._housekeeping.treasurer.budget,
        )
        self._warnings += [Notice(level="warning", text=text) for text in parts.profiles.problems]
        for error in parts.stand_ins(self.model)[1]:
            text = tr("A fallback model cannot be used: {reason}", reason=error.message)
            self._warnings.append(Notice(level="warning", text=text, hint=error.hint))
        try:
            self._wear(parts.profile)
        except UserError:
            parts.store.close()
            raise

    @property
    def id(self) -> str:
        """The session's id."""
        return self._parts.view.id

    @property
    def title(self) -> str:
        """What the session is called; empty: nothing yet."""
        return self._title

    @property
    def past(self) -> History:
        """What the session held when it was resumed."""
        return self._parts.history

    @property
    def has_fast_model(self) -> bool:
        """Whether there is a cheaper model for small things."""
        return bool(self._parts.economy.fast_model)

    @property
    def is_kept(self) -> bool:
        """Whether something was said, so that it can be resumed."""
        return self._journal.has_begun

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation so far."""
        return self._conversation.messages

    @property
    def usage(self) -> Usage:
        """What the session used so far."""
        return self.spending.total

    @property
    def model(self) -> str:
        """The name of the model in use."""
        return self._model.name

    @property
    def mode(self) -> Mode:
        """The permission mode."""
        return self._parts.policy.mode

    @property
    def profile(self) -> Profile:
        """The role the agent plays."""
        return self._wearing.profile

    @property
    def profiles(self) -> Profiles:
        """The roles it could play."""
        return self._parts.profiles

    @property
    def waiting(self) -> tuple[Request, ...]:
        """What waits for the person's answer."""
        return self._parts.inbox.waiting

    @property
    def tools(self) -> list[AnyTool]:
        """The tools the model is offered."""
        return self._parts.registry.select(self._offered)

    @property
    def rules(self) -> Rules:
        """The permission rules in force."""
        return self._parts.policy.rules

    @property
    def context_tokens(self) -> int:
        """How many tokens the last request had."""
        return self.spending.last.input_tokens

    @property
    def workspace(self) -> Workspace:
        """Where the session works."""
        return self._parts.view.workspace

    @property
    def sandbox(self) -> SandboxChoice:
        """What can confine commands."""
        return self._parts.view.sandbox

    @property
    def extensions(self) -> Extensions:
        """What others add to the session."""
        return self._parts.extensions

    def start_extensions(self, tell: Callable[[Event], None]) -> None:
        """Load extensions in the background; `tell` takes their notices and questions."""
        self.extensions.start(tell, lambda: self.is_running)

    def redact(self, text: str) -> str:
        """A text without the secrets that are known here."""
        return self._parts.outgoing.redact(text)

    def state(self, kind: type[S]) -> S:
        """A tool's own memory of this session."""
        return self._pipeline.state.get(kind)

    @property
    def is_running(self) -> bool:
        """Whether a turn is under way."""
        return self._task is not None

    def run(self, prompt: Content | Written | None) -> AsyncGenerator[Event, None]:
        """Play one turn, ending with TurnFinished. Without a prompt, try the last one again."""

        def begin() -> Coroutine[Any, Any, None]:
            self.extensions.turn_begins()
            self._turn = self._new_turn()
            return self._turn.run(prompt)

        return self._follow(begin)

    def run_own(
        self, command: str, *, tool: str, options: Mapping[str, Any] | None = None
    ) -> AsyncGenerator[Event, None]:
        """Run a command the person typed, unasked, with events like those of a turn.

        `tool` is the tool that runs commands. The model hears of it in the next turn.
        """
        return self._follow(lambda: self._own_command(command, tool, options or {}).run())

    def compact(self, focus: str = "") -> AsyncGenerator[Event, None]:
        """Shorten the conversation if the person agrees, with events like those of a turn.

        `focus` is what the summary must not forget.
        """

        def begin() -> Coroutine[Any, Any, None]:
            return CompactionByHand(
                focus=focus,
                number=self._turns,
                session_id=self.id,
                model=self.model,
                compactor=self._housekeeping.compactor,
                inbox=self._parts.inbox,
                emit=self._tell,
            ).run()

        return self._follow(begin)

    async def _follow(
        self, begin: Callable[[], Coroutine[Any, Any, None]]
    ) -> AsyncGenerator[Event, None]:
        if self._task is not None:
            raise UserError(tr("A turn is under way already."), hint=tr("Interrupt it or wait."))
        events: asyncio.Queue[Event] = asyncio.Queue()
        self._emit = events.put_nowait
        self._turns += 1
        self._keeper.begin(self._turns)
        self._task = asyncio.create_task(begin())
        try:
            while True:
                event = await events.get()
                yield event
                if isinstance(event, TurnFinished):
                    return
        finally:
            self._task.cancel()
            await asyncio.wait([self._task])
            self._task = self._turn = None
            self._emit = lambda _event: None
            self._journal.sync()

    async def prepare(self) -> None:
        """Find out what a first turn must not stumble over; raises UserError."""
        try:
            sandbox = await self._parts.view.sandbox.get()
        except SandboxUnavailable as error:
            raise UserError(error.message, hint=error.hint) from error
        if self.mode is Mode.AUTO and not sandbox.confines:
            raise UserError(
                tr("The mode auto needs a sandbox, and there is {reason}.", reason=sandbox.reason),
                hint=tr("Install bubblewrap, or choose another --permission-mode."),
            )

    async def warm(self) -> None:
        """Get the model ready while the person still thinks."""
        await self._parts.models.warm(self.model)

    async def describe_model(self) -> ModelFacts:
        """What is known of the model in use; it may take as long as loading it."""
        return await self._housekeeping.facts(self.model)

    def fill(self) -> Fill:
        """What the next request would fill the model's window with, in tokens."""
        return self._housekeeping.fill()

    def statistics(self) -> Statistics:
        """What was counted today, over all sessions."""
        return self._parts.statistics()

    def reply(self, request_id: str, answer: Answer) -> bool:
        """Answer what was asked; False if it does not wait (any more)."""
        return self._parts.inbox.reply(request_id, answer)

    def steer(self, text: str) -> bool:
        """Say something to the model before its next step; False if the turn is over."""
        if self._turn is None or self._turn.is_over:
            return False
        self._turn.steering.append(text)
        return True

    def interrupt(self) -> bool:
        """End the turn at once; False if none is under way."""
        if self._task is None or self._task.done():
            return False
        # Not sooner than its first step: what never began could not say how it ended.
        asyncio.get_running_loop().call_soon(self._task.cancel)
        return True

    def use_model(self, name: str) -> None:
        """Go on with another model, from the next turn."""
        self._model = self._parts.models.get(name)
        self._journal.add(ModelChanged(model=name))

    def use_profile(self, name: str) -> None:
        """Play another role from the next turn; raises UserError."""
        profile = self.profiles.get(name)
        if self.is_running:
            hint = tr("Change the profile when it is over.")
            raise UserError(tr("A turn is under way."), hint=hint)
        self._wear(profile)

    def forget(self) -> None:
        """Begin a new conversation: nothing said so far is sent any more."""
        self._journal.rewind(self._journal.root, "a new conversation")
        self._conversation.load(())
        self.memory.load(())
        self.spending.last = Usage()

    def rewind(self, to: str, reason: str = "") -> History:
        """Go on from an earlier entry of the log; returns the session as it stands then."""
        self._journal.rewind(to, reason)
        history = self.history()
        self._conversation.load(history.messages)
        self.memory.load(history.pins)
        for message in history.missing:
            self._conversation.append(message)
        self.spending.last = history.last
        return history

    def history(self) -> History:
        """The session as its log tells it."""
        return read_history(self._parts.store.entries())

    def note(self, notice: Notice) -> None:
        """Keep what a frontend tells the person, so that it is there again after a resume."""
        self._journal.note(notice)

    def rename(self, title: str, by: Literal["person", "model"] = "person") -> None:
        """Give the session a title."""
        self._title = as_title(title)
        self._journal.add(Titled(title=self._title, by=by))

    async def make_title(self) -> str:
        """Have the fast model give the session a title; raises ModelError."""
        model = self._parts.models.get(self._parts.economy.fast_model or self.model)
        title, used = await ask_for_title(model, self.messages)
        self._housekeeping.accounting.count_aside(model.name, used)
        if title:
            self.rename(title, by="model")
        return title

    def set_mode(self, mode: Mode) -> None:
        """Change the permission mode, from the next call."""
        self._parts.policy.mode = mode
        self._journal.add(ModeChanged(mode=mode.value))

    async def close(self) -> None:
        """End the turn, what tools left running, and the models."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        await self._parts.hooks.close()
        await self.extensions.close()
        await self._pipeline.state.close()
        await asyncio.to_thread(self._parts.checkpoints.close)
        await self._parts.models.close()
        for observer in self._parts.observers:
            await asyncio.to_thread(observer.close)
        self._parts.store.close()
        if self._parts.view.temporary is not None:
            shutil.rmtree(self._parts.view.temporary, ignore_errors=True)

    def _wear(self, profile: Profile) -> None:
        self._wearing.change(profile)
        self._pipeline.selection = profile.narrow(self._parts.selection, self._parts.registry)

    def _delegation(self) -> Delegation:
        return Delegation(
            parts=self._parts,
            conversation=self._conversation,
            accounting=self._housekeeping.accounting,
            budget=self._housekeeping.treasurer.budget,
            model=lambda: self._model,
            emit=self._tell,
        )

    def _switch(self, name: str) -> Model:
        self.use_model(name)
        return self._model

    def _new_turn(self) -> Turn:
        parts = self._parts
        stand_ins, _ = parts.stand_ins(self.model)
        return Turn(
            number=self._turns,
            session_id=self.id,
            conversation=self._conversation,
            pipeline=self._pipeline,
            models=[self._model, *stand_ins],
            request=self._request,
            emit=self._tell,
            accounting=self._housekeeping.accounting,
            treasurer=self._housekeeping.treasurer,
            compactor=self._housekeeping.compactor,
            use_model=self._switch,
            limits=parts.limits,
            retry=parts.retry,
        )

    def _own_command(self, command: str, tool: str, options: Mapping[str, Any]) -> OwnCommand:
        return OwnCommand(
            command=command,
            tool=tool,
            options=options,
            number=self._turns,
            session_id=self.id,
            model=self.model,
            conversation=self._conversation,
            pipeline=self._pipeline,
            emit=self._tell,
        )

    def _request(self, _model: Model) -> ModelRequest:
        """The next request: an unchanging beginning, then the history as it grew."""
        parts = self._parts
        return ModelRequest(
            system="\n\n".join(filter(None, (parts.system_prompt, self.profile.prompt))),
            messages=self._conversation.messages,
            tools=tuple(parts.registry.declarations(self._offered)),
            options=parts.options,
        )

    @property
    def _offered(self) -> Selection:
        """The tools for the model: in plan mode, those that change nothing."""
        return offered_in(self.mode, self._pipeline.selection)

    def _begin(self) -> None:
        """The first entry, or those a program that ended too early did not get to write."""
        if self._parts.history.head is None:
            self._journal.add(
                Opened(
                    session=self.id,
                    workspace=self.workspace.root,
                    model=self.model,
                    mode=self.mode.value,
                    program=__version__,
                )
            )
            return
        for message in self._parts.history.missing:
            self._conversation.append(message)
        if self.mode != self._parts.history.mode:
            self._journal.add(ModeChanged(mode=self.mode.value))
        if self.model != self._parts.history.model:
            self._journal.add(ModelChanged(model=self.model))

    def _tell(self, event: Event) -> None:
        """Write an event down, then show it; a turn's first and last event stay what they are."""
        self._journal.note(event)
        notices, self._warnings = self._warnings, []
        is_last = isinstance(event, TurnFinished)
        events: list[Event] = [*notices, event] if is_last else [event, *notices]
        for each in events:
            for observer in self._parts.observers:
                observer.see(each)
            self._parts.hooks.see(each)
            self._emit(each)

    def _tell_model(self, text: str) -> None:
        """Something the model should know before its next step."""
        self._conversation.append(UserMessage(content=text, origin="program"))

    def _warn(self, text: str, hint: str) -> None:
        self._warnings.append(Notice(level="warning", text=text, hint=hint))
