"""One session inside an editor: its prompts, what is told of its turns, what it asks."""

import asyncio
import itertools
import logging
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import aclosing
from typing import Any

from acp import RequestError, helpers
from acp.interfaces import Client
from acp.schema import (
    AvailableCommand,
    AvailableCommandInput,
    PromptResponse,
    SessionInfoUpdate,
    SessionMode,
    SessionModeState,
    StopReason,
    UnstructuredCommandInput,
    Usage,
)

from agent_cli.commands._command import Command
from agent_cli.commands.mode import MEANINGS
from agent_cli.controller.endings import has_failed, stopped
from agent_cli.controller.requests import refusal
from agent_cli.controller.wording import sentences
from agent_cli.core.errors import ModelError, UserError
from agent_cli.core.events import (
    ApprovalAsked,
    Event,
    Notice,
    PlanAnswered,
    PlanAsked,
    QuestionAsked,
    TurnFinished,
)
from agent_cli.core.inbox import QuestionRequest, Request
from agent_cli.core.permissions import Mode
from agent_cli.core.session import Session
from agent_cli.frontends.acp.asking import Asking, Cancelled
from agent_cli.frontends.acp.desk import EditorDesk
from agent_cli.frontends.acp.prompts import Sent, read_prompt
from agent_cli.frontends.acp.updates import Update, Updates, note
from agent_cli.frontends.shared.slash import MODES
from agent_cli.lib.language import tr

log = logging.getLogger(__name__)

EXTENSIONS_WITHIN = 60.0
"""Seconds after which the commands of extensions that are still missing are not advertised."""


class Conversation:
    """One prompt at a time."""

    def __init__(
        self, session: Session, client: Client, notes: Sequence[str], *, has_forms: bool
    ) -> None:
        self.session = session
        self.updates = Updates(session)
        self.asking = Asking(client, session.id, session.workspace, has_forms=has_forms)
        self._client = client
        self._notes = list(notes)
        """What the person is told before the next answer."""
        self._desk = EditorDesk(self)
        self._work: asyncio.Task[PromptResponse] | None = None
        self._questions: set[asyncio.Task[None]] = set()
        self._others: set[asyncio.Task[None]] = set()
        self._numbers = itertools.count(1)
        self._told_mode = session.mode
        self._told_title = session.title
        self.has_failed = False
        """Whether the last turn may be tried again."""

    # ── what the editor asks for ─────────────────────────────────────────────────────────────────

    @property
    def modes(self) -> SessionModeState:
        """The permission modes there are, and the one that holds."""
        listed = [*MODES, *({self.session.mode} - set(MODES))]
        return SessionModeState(
            current_mode_id=self.session.mode.value,
            available_modes=[
                SessionMode(id=mode.value, name=mode.value, description=tr(MEANINGS[mode]))
                for mode in listed
            ],
        )

    async def set_mode(self, mode: str) -> None:
        """Change the permission mode; raises UserError."""
        if mode not in [each.id for each in self.modes.available_modes]:
            raise UserError(tr("{mode} is not a mode that can be chosen here.", mode=mode))
        self.session.set_mode(Mode(mode))
        self._told_mode = self.session.mode  # the editor knows: it asked for it

    async def prompt(self, blocks: Sequence[Sent]) -> PromptResponse:
        """Play a turn or carry out a command; raises UserError, and RequestError if it fails."""
        if self._work is not None:
            raise UserError(tr("A turn is under way already."), hint=tr("Cancel it or wait."))
        self._work = work = asyncio.create_task(self._answer(blocks))
        try:
            await asyncio.wait([work])
        finally:
            work.cancel()
            await asyncio.wait([work])
            self._work = None
        if work.cancelled():
            return PromptResponse(stop_reason="cancelled")
        return work.result()

    def cancel(self) -> None:
        """End what is under way."""
        if self._work is not None and not self.session.interrupt():
            self._work.cancel()

    def begin(self) -> None:
        """Tell what can be typed after a slash, and get the model ready."""
        self.background(self._begin())

    async def replay(self) -> None:
        """Tell what a session that goes on holds already."""
        for event in self.session.past.events:
            for update in self.updates.of(event):
                await self.tell(update)
            if isinstance(event, TurnFinished):
                self.has_failed = has_failed(event)

    async def close(self) -> None:
        """End everything that is under way, and the session."""
        running = [task for task in (self._work, *self._others) if task is not None]
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)
        await self.session.close()

    # ── what happens ─────────────────────────────────────────────────────────────────────────────

    async def tell(self, update: Update) -> None:
        """Send an update."""
        await self._client.session_update(session_id=self.session.id, update=update)

    def next_question(self) -> str:
        """An id for a question that no call asks."""
        return f"question-{next(self._numbers)}"

    async def answered(self, question: str) -> None:
        """A question that no call asked is over."""
        await self.tell(helpers.update_tool_call(question, status="completed"))

    async def play(self, turn: AsyncGenerator[Event, None]) -> PromptResponse:
        """Follow a turn to its end; raises RequestError if it fails."""
        finished: TurnFinished | None = None
        try:
            async with aclosing(turn) as events:
                async for event in events:
                    await self._take(event)
                    if isinstance(event, TurnFinished):
                        finished = event
        finally:
            for question in self._questions:
                question.cancel()
        assert finished is not None
        return await self._conclude(finished)

    async def _answer(self, blocks: Sequence[Sent]) -> PromptResponse:
        content = read_prompt(blocks, self.session.workspace.root)
        while self._notes:
            await self.tell(note(self._notes.pop(0)))
        if isinstance(content, str) and (command := self._desk.find(content)):
            response = await self._desk.obey(*command)
        else:
            response = await self.play(self.session.run(content))
        await self._tell_changes()
        self._name_it()
        return response

    async def _take(self, event: Event) -> None:
        for update in self.updates.of(event):
            await self.tell(update)
        match event:
            case ApprovalAsked() | QuestionAsked() | PlanAsked():
                asked = asyncio.create_task(self._ask(event.request))
                self._questions.add(asked)
                asked.add_done_callback(self._questions.discard)
            case PlanAnswered():
                await self._tell_changes()
            case TurnFinished():
                self.has_failed = has_failed(event)

    async def _ask(self, request: Request) -> None:
        tool = getattr(request, "tool", "")
        try:
            answer = await self.asking.ask(request, self.updates.kind(tool))
        except Cancelled:
            self.session.interrupt()
            self.session.reply(request.id, refusal(request))  # of what no turn asked
        except Exception:  # what cannot be asked must not wait for ever
            log.exception("the question could not be asked")
            self.session.reply(request.id, refusal(request))
        else:
            if isinstance(request, QuestionRequest) and not request.call_id:
                await self.answered(request.id)
            self.session.reply(request.id, answer)

    async def _conclude(self, finished: TurnFinished) -> PromptResponse:
        if finished.reason in ("failed", "temporary"):
            told = finished.error or tr("The turn failed.")
            raise RequestError(-32603, sentences(told, finished.hint))
        reason: StopReason = "end_turn"
        if finished.reason == "interrupted":
            reason = "cancelled"
        elif why := stopped(finished):
            await self.tell(note(why, finished.hint))
            reason = "max_turn_requests" if finished.reason == "step_limit" else "end_turn"
        used = finished.usage
        usage = Usage(
            total_tokens=used.input_tokens + used.output_tokens,
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            cached_read_tokens=used.cached_tokens,
        )
        return PromptResponse(stop_reason=reason, usage=usage)

    async def _tell_changes(self) -> None:
        """Tell the mode and the title, if they are others than the editor knows."""
        if self.session.mode is not self._told_mode:
            self._told_mode = self.session.mode
            await self.tell(helpers.update_current_mode(self._told_mode.value))
        if self.session.title != self._told_title:
            self._told_title = self.session.title
            await self.tell(
                SessionInfoUpdate(session_update="session_info_update", title=self._told_title)
            )

    def _name_it(self) -> None:
        """After the first turn, have a cheap model find a title."""
        if self.session.has_fast_model and not self.session.title and self.session.messages:
            self.background(self._make_title())

    async def _make_title(self) -> None:
        try:
            await self.session.make_title()
        except (ModelError, UserError) as error:
            log.info("no title could be made: %s", error)
        await self._tell_changes()

    async def _begin(self) -> None:
        self.session.start_extensions(self._outside)
        offered = self._desk.offered
        await self.tell(helpers.update_available_commands(map(_advertised, offered)))
        try:
            await self.session.warm()
            self.updates.window = (await self.session.describe_model()).window
        except (ModelError, UserError) as error:
            log.info("the model is not ready: %s", error)  # the first turn will say so
        await self.session.extensions.settled(EXTENSIONS_WITHIN)
        if len(self._desk.offered) != len(offered):
            more = map(_advertised, self._desk.offered)
            await self.tell(helpers.update_available_commands(more))

    def _outside(self, event: Event) -> None:
        """What extensions tell and ask, maybe while no turn is under way."""
        match event:
            case Notice():
                self._notes.append(sentences(event.text, event.hint))
            case ApprovalAsked() | QuestionAsked() | PlanAsked():
                self.background(self._ask(event.request))
            case _:
                pass

    def background(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something that takes time, beside everything else."""
        task = asyncio.create_task(self._guarded(work))
        self._others.add(task)
        task.add_done_callback(self._others.discard)

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except ConnectionError:
            pass  # the editor is gone, and so are we in a moment
        except Exception:  # it must not end the session
            log.exception("something in the background failed")


def _advertised(command: Command) -> AvailableCommand:
    hint = UnstructuredCommandInput(hint=tr(command.argument))
    return AvailableCommand(
        name=command.name,
        description=tr(command.help),
        input=AvailableCommandInput(root=hint) if command.argument else None,
    )
