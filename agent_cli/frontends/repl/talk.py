"""A conversation at a stage: turns, what waits for them, and slash commands."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Literal

from agent_cli.commands._command import Command
from agent_cli.core.errors import ExitCode, UserError
from agent_cli.core.events import ApprovalAsked, Event, PlanAsked, QuestionAsked, TurnFinished
from agent_cli.core.inbox import Request
from agent_cli.core.session import Session
from agent_cli.frontends.repl.asking import Asking
from agent_cli.frontends.repl.manual import KEYS
from agent_cli.frontends.repl.stage import Stage
from agent_cli.frontends.repl.teller import Teller
from agent_cli.frontends.shared.endings import EXIT_CODES, has_failed
from agent_cli.frontends.shared.slash import MODES, OWN_OPTIONS, SHELL, kind_of
from agent_cli.safety.sanitise import clean
from agent_cli.storage.prompt_history import PromptHistory

log = logging.getLogger(__name__)

_BUSY = ("A turn is under way.", "Interrupt it first.")


class Talk:
    """Listens to a stage, plays turns, and is the desk of the slash commands."""

    def __init__(
        self,
        session: Session,
        stage: Stage,
        teller: Teller,
        commands: Sequence[Command],
        history: PromptHistory,
        *,
        log_file: Path | None = None,
    ) -> None:
        self.session = session
        self.queue: list[str] = []
        """What waits for the turn under way."""
        self.code = int(ExitCode.DONE)
        """How the last turn ended."""
        self._stage = stage
        self._teller = teller
        self._asking = Asking(stage)
        self._slash = {name: each for each in commands for name in (each.name, *each.aliases)}
        self._listed = tuple(commands)
        self._history = history
        self._log_file = log_file
        self._turn: asyncio.Task[None] | None = None
        self._questions: set[asyncio.Task[None]] = set()
        self._has_failed = False
        self._window: int | None = None
        self._mode = session.mode
        self._left = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None

    async def run(self, *, is_greeted: bool) -> int:
        """Talk until the person leaves; returns the exit code."""
        if is_greeted:
            self._greet()
        self._looking = asyncio.create_task(self._look_around())
        try:
            await self._left.wait()
        finally:
            await self._end()
        return self.code

    def status(self) -> str:
        """Mode, model, how full its window is, and what the session cost."""
        session = self.session
        parts = [f"{session.mode.value} mode", session.model]
        if self._window:
            parts.append(f"{session.context_tokens / self._window:.0%} of the window")
        if session.usage.cost:
            parts.append(f"${session.usage.cost:.2f}")
        return clean(f" {self._stage.signs.dot} ".join(parts))

    def next_mode(self) -> None:
        """The mode that Shift+Tab leads to."""
        at = MODES.index(self.session.mode) if self.session.mode in MODES else -1
        self.session.set_mode(MODES[(at + 1) % len(MODES)])
        self.changed()

    @property
    def is_busy(self) -> bool:
        return self._turn is not None

    async def idle(self) -> None:
        """Wait until nothing is under way and nothing waits."""
        while self._turn is not None and not self._left.is_set():
            await asyncio.wait([self._turn])

    # ── what the person does ─────────────────────────────────────────────────────────────────────

    def submitted(self, text: str) -> None:
        """Send, queue, or carry out a command."""
        with contextlib.suppress(OSError):
            self._history.add(text)
        if kind_of(text) == "command":
            self._command(text[1:].strip())
        elif self._turn is not None:
            self.queue.append(text)
            self._stage.changed()
        else:
            self._begin(text)

    def submitted_empty(self) -> None:
        waiting = self.queue[0] if self.queue else ""
        if waiting and kind_of(waiting) == "prompt" and self.session.steer(waiting):
            self.queue.pop(0)
            self._stage.changed()

    def take_back(self) -> str:
        return self.queue.pop() if self.queue else ""

    def interrupt(self) -> bool:
        return self.session.interrupt()

    def leave(self) -> None:
        self._left.set()

    # ── a turn ───────────────────────────────────────────────────────────────────────────────────

    def _begin(self, text: str) -> None:
        if kind_of(text) != "shell":
            self._teller.prompt(text)
            self._start(self.session.run(text))
        elif command := text[1:].strip():
            own = self.session.run_own(command, tool=SHELL, options=OWN_OPTIONS)
            self._start(own, is_own=True)

    def _start(self, turn: AsyncGenerator[Event, None], *, is_own: bool = False) -> None:
        self._teller.begin(is_own=is_own)
        self._turn = asyncio.create_task(self._play(turn))
        self._stage.changed()

    async def _play(self, turn: AsyncGenerator[Event, None]) -> None:
        """One turn, then what was queued meanwhile."""
        try:
            async with aclosing(turn) as events:
                async for event in events:
                    self._take(event)
        except Exception as error:  # our own fault, not the turn's: that one is an event
            self._own_fault("what happened could not be shown", error)
        finally:
            for question in self._questions:
                question.cancel()
            self._teller.end()
            self._turn = None
            self._stage.changed()
        if self.queue and not self._left.is_set():
            self._begin(self.queue.pop(0))

    def _take(self, event: Event) -> None:
        self._teller.write(event)
        match event:
            case ApprovalAsked() | QuestionAsked() | PlanAsked():
                asked = asyncio.create_task(self._ask(event.request))
                self._questions.add(asked)
                asked.add_done_callback(self._questions.discard)
            case TurnFinished():
                self._has_failed = has_failed(event)
                self.code = EXIT_CODES[event.reason]
                if event.reason == "done" and event.denials:
                    self.code = ExitCode.PERMISSION

    async def _ask(self, request: Request) -> None:
        self._teller.asking(request)
        try:
            answer = await self._asking.ask(request)
        except Exception as error:  # what cannot be asked must not wait forever
            self._own_fault("the question could not be asked", error)
            self.session.interrupt()
            return
        self._teller.asking(request, is_over=True)
        self.session.reply(request.id, answer)

    async def _end(self) -> None:
        running = [task for task in (self._turn, self._looking) if task is not None]
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)

    async def _look_around(self) -> None:
        """Find out in the background what takes time: the sandbox, the model's process."""
        await self.session.warm()
        try:
            await self.session.prepare()
        except UserError as error:
            self.warn(error.message, error.hint)
        self._window = (await self.session.describe_model()).window
        self._stage.changed()

    def _greet(self) -> None:
        session = self.session
        root, home = session.workspace.root, session.workspace.home
        place = f"~{root.removeprefix(home)}" if root.startswith(f"{home}/") else root
        self._teller.greet((place, session.model, f"{session.mode.value} mode", "/help"))

    # ── commands, and what they need of us ───────────────────────────────────────────────────────

    def _command(self, text: str) -> None:
        name, _, argument = text.partition(" ")
        command = self._slash.get(name.lower())
        if command is None:
            self.warn(f"There is no command /{name}.", "/help lists them.")
            return
        try:
            command.run(self, argument.strip())
        except Exception as error:  # a broken command must not end the session
            self._own_fault(f"/{command.name} failed", error)

    def _own_fault(self, what: str, error: Exception) -> None:
        """Tell of a bug of ours, and keep its traceback."""
        log.error("%s", what, exc_info=error)
        where = f"The log has more: {self._log_file}" if self._log_file else "See the log."
        text = f"This is a bug in the program: {what} ({type(error).__name__}: {error})."
        self._teller.warn(text, where, is_error=True)

    def say(self, markdown: str) -> None:
        self._teller.say(markdown)

    def warn(self, text: str, hint: str = "") -> None:
        self._teller.warn(text, hint)

    def changed(self) -> None:
        if self._stage.paper.is_flat and self.session.mode is not self._mode:
            self.say(f"The mode is now {self.session.mode.value}.")  # there is no status line
        self._mode = self.session.mode
        self._stage.changed()

    def clear(self) -> None:
        if self._turn is not None:
            self.warn(*_BUSY)
            return
        self.session.forget()
        self._teller.forget()
        self.say("A new conversation.")

    def retry(self) -> None:
        if self._turn is not None:
            self.warn(*_BUSY)
        elif not self._has_failed:
            self.warn("There is nothing to try again: the last turn did not fail.")
        else:
            self._start(self.session.run(None))

    def copy(self, what: Literal["reply", "all"]) -> None:
        texts = self._teller.told if what == "all" else self._teller.replies[-1:]
        if not texts:
            self.warn("There is nothing to copy yet.")
        elif self._stage.copy("\n\n".join(texts)):
            self.say("Copied.")
        else:
            self.warn("There is no clipboard here.")

    def help(self) -> None:
        keys = "\n".join(f"- **{key}**: {text}" for key, text in KEYS)
        named = "\n".join(
            f"- **{f'/{c.name} {c.argument}'.rstrip()}**: {c.help}" for c in self._listed
        )
        self.say(f"Keys\n\n{keys}\n\nCommands\n\n{named}")

    def changes(self) -> Sequence[str]:
        return self._teller.diffs

    def window(self) -> int | None:
        return self._window

    def themes(self) -> Sequence[str]:
        return ()

    def use_theme(self, name: str) -> None:
        """There is one look only: the terminal's own."""
