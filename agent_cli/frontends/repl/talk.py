"""A session at a stage: plays turns, tells what happens in them, and asks what is asked."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from pathlib import Path
from typing import Any

from agent_cli.core.errors import ExitCode, ModelError, UserError
from agent_cli.core.events import ApprovalAsked, Event, PlanAsked, QuestionAsked, TurnFinished
from agent_cli.core.inbox import Request
from agent_cli.core.money.pricing import short_price
from agent_cli.core.session import Session
from agent_cli.frontends.repl.asking import Asking
from agent_cli.frontends.repl.stage import Stage
from agent_cli.frontends.repl.teller import Teller
from agent_cli.frontends.shared.endings import EXIT_CODES, has_failed
from agent_cli.frontends.shared.past import resumed_line
from agent_cli.frontends.shared.slash import MODES, OWN_OPTIONS, SHELL
from agent_cli.frontends.shared.suggesting import first_of, left_of
from agent_cli.frontends.shared.typed import kind_of
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import clean
from agent_cli.storage.prompt_history import PromptHistory

log = logging.getLogger(__name__)


class Talk:
    """One turn at a time; what is sent meanwhile waits."""

    def __init__(
        self,
        session: Session,
        stage: Stage,
        teller: Teller,
        history: PromptHistory,
        *,
        log_file: Path | None = None,
    ) -> None:
        self.session = session
        self.teller = teller
        self.obey: Callable[[str], None] = lambda _command: None
        """Carries out a slash command."""
        self.queue: list[str] = []
        """What waits for the turn under way."""
        self.code = int(ExitCode.DONE)
        """How the last turn ended."""
        self.window: int | None = None
        """How many tokens a request may have, once that is known."""
        self._stage = stage
        self._asking = Asking(stage)
        self._history = history
        self._log_file = log_file
        self._turn: asyncio.Task[None] | None = None
        self._others: set[asyncio.Task[None]] = set()
        self._questions: set[asyncio.Task[None]] = set()
        self._has_failed = False
        self._has_named = False
        self._has_extensions = False
        self._suggestion = ""
        self._mode = session.mode
        self._left = asyncio.Event()

    async def run(self) -> int:
        """Talk until the person leaves; returns how the last turn ended."""
        self._show_past()
        self.background(self._look_around())
        try:
            await self._left.wait()
        finally:
            await self._end()
        return self.code

    # ── what the person does ─────────────────────────────────────────────────────────────────────

    def submitted(self, text: str) -> None:
        """Send, queue, or carry out a command."""
        self._suggestion = left_of(self._suggestion, text)
        with contextlib.suppress(OSError):
            self._history.add(text)
        if kind_of(text) == "command":
            self.obey(text[1:].strip())
        elif self._turn is not None:
            self.queue.append(text)
            self._stage.changed()
        else:
            self._begin(text)

    def submitted_empty(self) -> None:
        if self._suggestion and not self.is_busy:
            self.submitted(first_of(self._suggestion))
            return
        waiting = self.queue[0] if self.queue else ""
        if waiting and kind_of(waiting) == "prompt" and self.session.steer(waiting):
            self.queue.pop(0)
            self._stage.changed()

    def take_back(self) -> str:
        return self.queue.pop() if self.queue else ""

    def interrupt(self) -> bool:
        return self.session.interrupt()

    def next_mode(self) -> None:
        at = MODES.index(self.session.mode) if self.session.mode in MODES else -1
        self.session.set_mode(MODES[(at + 1) % len(MODES)])
        self.changed()

    def leave(self) -> None:
        self._left.set()

    # ── what is told ─────────────────────────────────────────────────────────────────────────────

    @property
    def is_busy(self) -> bool:
        return self._turn is not None

    async def idle(self) -> None:
        while self._turn is not None and not self._left.is_set():
            await asyncio.wait([self._turn])

    def status(self) -> str:
        """Mode, model, how full its window is, and what the session cost."""
        session = self.session
        parts = [self._mode_name, session.model]
        if self.window:
            parts.append(
                tr("{share:.0%} of the window", share=session.context_tokens / self.window)
            )
        if session.usage.cost or session.usage.unpriced:
            parts.append(short_price(session.usage))
        return clean(f" {self._stage.signs.dot} ".join(parts))

    @property
    def _mode_name(self) -> str:
        return tr("{mode} mode", mode=self.session.mode.value)

    def greet(self) -> None:
        """Say where we are."""
        session = self.session
        root, home = session.workspace.root, session.workspace.home
        place = f"~{root.removeprefix(home)}" if root.startswith(f"{home}/") else root
        self.teller.greet((place, session.model, self._mode_name, "/help"))

    def changed(self) -> None:
        """Something the status line tells has changed."""
        if self._stage.paper.is_flat and self.session.mode is not self._mode:
            now = tr("The mode is now {mode}.", mode=self.session.mode.value)
            self.teller.say(now)  # there is no such line
        self._mode = self.session.mode
        self._stage.changed()

    def own_fault(self, what: str, error: Exception) -> None:
        """Tell of a bug of ours, and keep its traceback."""
        log.error("%s", what, exc_info=error)
        where = tr("See the log.")
        if self._log_file:
            where = tr("The log has more: {log}", log=self._log_file)
        said = f"{type(error).__name__}: {error}"
        text = tr("This is a bug in the program: {what} ({error}).", what=what, error=said)
        self.teller.warn(text, where, is_error=True)

    def say_busy(self) -> None:
        """Tell that there is something to wait for."""
        self.teller.warn(tr("A turn is under way."), tr("Interrupt it first."))

    def background(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something that takes time, while the person goes on."""
        task = asyncio.create_task(self._guarded(work))
        self._others.add(task)
        task.add_done_callback(self._others.discard)

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except UserError as error:
            self.teller.warn(error.message, error.hint)
        except Exception as error:  # it must not end the session
            self.own_fault(tr("something in the background failed"), error)

    def start_extensions(self) -> None:
        """Load them in the background, once; what they say and ask comes like that of a turn."""
        if not self._has_extensions:
            self._has_extensions = True
            self.session.start_extensions(self._take)

    async def _look_around(self) -> None:
        """Find out what takes time: the sandbox, the model's process."""
        await self.session.warm()
        self.start_extensions()
        try:
            await self.session.prepare()
        finally:
            self.window = (await self.session.describe_model()).window
            self._stage.changed()

    def _show_past(self) -> None:
        """Show a resumed session as it was."""
        past = self.session.past
        if past.head is None:
            return
        self.teller.replay(past.events)
        ends = [event for event in past.events if isinstance(event, TurnFinished)]
        self._has_failed = bool(ends) and has_failed(ends[-1])
        self.teller.note(resumed_line(past, time.time()))

    # ── a turn ───────────────────────────────────────────────────────────────────────────────────

    def retry(self) -> None:
        """Play the turn again that failed."""
        if self._has_failed or self.is_busy:
            self.play(self.session.run(None))
        else:
            self.teller.warn(tr("There is nothing to try again: the last turn did not fail."))

    def play(self, turn: AsyncGenerator[Event, None], *, is_own: bool = False) -> None:
        """Follow something that reads like a turn, unless one is under way."""
        if self._turn is not None:
            self.say_busy()
            return
        self.teller.begin(is_own=is_own)
        self._turn = asyncio.create_task(self._play(turn))
        self._stage.changed()

    def _begin(self, text: str) -> None:
        if kind_of(text) != "shell":
            self.teller.prompt(text)
            self.play(self.session.run(text))
        elif command := text[1:].strip():
            own = self.session.run_own(command, tool=SHELL, options=OWN_OPTIONS)
            self.play(own, is_own=True)

    async def _play(self, turn: AsyncGenerator[Event, None]) -> None:
        """One turn, then what was queued meanwhile."""
        try:
            async with aclosing(turn) as events:
                async for event in events:
                    self._take(event)
        except Exception as error:  # our own fault, not the turn's: that one is an event
            self.own_fault(tr("what happened could not be shown"), error)
        finally:
            for question in self._questions:
                question.cancel()
            self.teller.end()
            self._turn = None
            self._stage.changed()
        self._name_it()
        if self.queue and not self._left.is_set():
            self._begin(self.queue.pop(0))

    def _take(self, event: Event) -> None:
        self.teller.write(event)
        match event:
            case ApprovalAsked() | QuestionAsked() | PlanAsked():
                asked = asyncio.create_task(self._ask(event.request))
                # What an extension asks between two turns does not end with the next one.
                tasks = self._others if self._turn is None else self._questions
                tasks.add(asked)
                asked.add_done_callback(tasks.discard)
            case TurnFinished():
                self._has_failed = has_failed(event)
                self._suggestion = event.suggestion
                self.code = EXIT_CODES[event.reason]
                if event.reason == "done" and event.denials:
                    self.code = ExitCode.PERMISSION

    async def _ask(self, request: Request) -> None:
        self.teller.asking(request)
        try:
            answer = await self._asking.ask(request)
        except Exception as error:  # what cannot be asked must not wait forever
            self.own_fault(tr("the question could not be asked"), error)
            self.session.interrupt()
            return
        self.teller.asking(request, is_over=True)
        self.session.reply(request.id, answer)
        self.changed()

    def _name_it(self) -> None:
        """After the first turn, have a cheap model find a title."""
        session = self.session
        if session.has_fast_model and not session.title and not self._has_named:
            self._has_named = True
            self.background(self._make_title())

    async def _make_title(self) -> None:
        try:
            await self.session.make_title()
        except (ModelError, UserError) as error:
            log.info("no title could be made: %s", error)

    async def _end(self) -> None:
        running = [task for task in (self._turn, *self._others) if task is not None]
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)
