"""One conversation: a session on one side, a view on the other.

The controller owns the queue, turns, steering, questions, slash commands and background work. It
is the same for every view, and nothing that fails in it or in the view ends the program.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress
from typing import TYPE_CHECKING

from agent_cli.controller.background import Background
from agent_cli.controller.busy import carry_out, refuse
from agent_cli.controller.extension_commands import with_extensions
from agent_cli.controller.modes import mode_after
from agent_cli.controller.past import resumed_line, unknown_line
from agent_cli.controller.questions import Questions
from agent_cli.controller.queued_message import Kind, QueuedMessage, kind_of
from agent_cli.controller.slash_command import Command, find
from agent_cli.controller.titles import make_title
from agent_cli.core import events as ev
from agent_cli.core.errors import UserError
from agent_cli.core.policy import Mode
from agent_cli.core.prompt_template import PromptTemplate
from agent_cli.lib.language import tr
from agent_cli.safety.sandbox import SandboxUnavailable

if TYPE_CHECKING:
    from pathlib import Path

    from agent_cli.controller.view import View
    from agent_cli.core.messages import Content
    from agent_cli.core.session import Session
    from agent_cli.core.undo.undo_diffs import FileDiff
    from agent_cli.launch_options import Resume
    from agent_cli.storage.prompt_history import PromptHistory

log = logging.getLogger(__name__)

SHELL_TOOL = "Bash"
SHELL_OPTIONS = {"timeout": 600_000}
"""Users wait for a command of their own as long as they like, and know how to interrupt."""


class Controller:
    """One turn at a time; what is submitted meanwhile waits in `queue`."""

    def __init__(
        self,
        session: Session,
        view: View,
        *,
        commands: Sequence[Command] = (),
        history: PromptHistory | None = None,
        log_file: Path | None = None,
        modes: Sequence[Mode] = tuple(Mode),
        makes_titles: bool = True,
        prepare: Callable[[Resume], Resume] | None = None,
    ) -> None:
        self.session = session
        self.view = view
        self.queue: list[QueuedMessage] = []
        self._is_held = False
        """Whether the queue waits until the user sends it on."""
        self.diffs: tuple[FileDiff, ...] = ()
        """What calls changed and nobody has undone; as of the last turn or undo."""
        self.finished: ev.TurnFinished | None = None
        """How the last turn ended."""
        self.suggestions: list[str] = []
        """What the user may well say next: Enter on an empty prompt says the first."""
        self.following: Resume | None = None
        """The session to resume when this one is left."""
        self.window: int | None = None
        """How many tokens a request may have, once that is known."""
        self.sandbox = ""
        """What confines commands, once that is known."""
        self.runs_own_command = False
        """Whether what runs now is a command of the user's own."""
        self.modes = modes
        """The permission modes that can be chosen here."""
        self._own_commands = tuple(commands)
        self._history = history
        self._log_file = log_file
        self._prepare = prepare
        self.background = Background(self.warn, self.report)
        self.command_work = Background(self.warn, self.report)
        self.questions = Questions(session, view, self.background, self.refresh)
        self._turn: asyncio.Task[None] | None = None
        self._is_exclusive = False
        self._is_closed = False
        self._window_of = ""
        self._has_extensions = False
        self._makes_title = makes_titles

    # ── starting and ending ──────────────────────────────────────────────────────────────────────

    def begin(self, *, shows_past: bool = True) -> None:
        """Show a resumed session as it was, and find out in the background what takes time."""
        past = self.session.past
        for event in past.events:
            self._note(event)
        if past.head is not None and shows_past:
            with self.background.guard(tr("The earlier conversation could not be shown")):
                self.view.replay(past.events)
            self.say_notice(resumed_line(past, time.time()))
        if past.unknown:
            self.warn(unknown_line(past))
        self.refresh()
        self.background.start(self._warm_up(), tr("Starting up failed"))

    async def close(self) -> None:
        """End everything that is under way; the session itself is the caller's to close."""
        self._is_closed = True
        if self._turn is not None:
            self._turn.cancel()
            await asyncio.wait([self._turn])
        await self.command_work.close()
        await self.background.close()

    async def idle(self) -> None:
        """Wait until no turn and no command is under way."""
        while running := [*self.command_work.tasks, *([self._turn] if self._turn else [])]:
            await asyncio.wait(running)

    async def _warm_up(self) -> None:
        await self.session.warm()
        with self.background.guard(tr("Reading what changed failed")):
            for note in await self.session.undoing.notes():
                self.warn(note)
        self.start_extensions()
        with self.background.guard(tr("Starting up failed")):
            await self.session.prepare()
        with suppress(SandboxUnavailable):  # prepare has said so
            self.sandbox = (await self.session.sandbox.get()).tier.value
        await self._learn_window()

    async def _learn_window(self) -> None:
        """Ask what is known of the model in use."""
        self.window, self._window_of = None, self.session.model
        facts = await self.session.describe_model()
        if self._window_of == self.session.model:
            self.window = facts.window
        self.refresh()

    def start_extensions(self) -> None:
        """Load them in the background, once; what they say and ask comes like that of a turn."""
        if not self._has_extensions:
            self._has_extensions = True
            self.session.start_extensions(self._take)

    # ── what the user does ───────────────────────────────────────────────────────────────────────

    @property
    def is_playing(self) -> bool:
        """Whether a turn is under way."""
        return self._turn is not None

    @property
    def is_busy(self) -> bool:
        """Whether a turn is under way, or files are being restored."""
        return self._turn is not None or self._is_exclusive

    def submit(self, text: str, kind: Kind | None = None) -> None:
        """Send it, queue it, or carry out a command."""
        kind = kind or kind_of(text)
        self.suggestions = self.suggestions[1:] if self.suggestions[:1] == [text] else []
        self.keep(text)
        if kind == "command":
            self.run_command(text[1:].strip())
        elif self.is_busy:
            self._is_held = self._is_held and bool(self.queue)
            self.queue.append(QueuedMessage(text, kind))
            self.refresh()
        else:
            self._begin(QueuedMessage(text, kind))

    def keep(self, text: str) -> None:
        """Remember what was sent, or written and not sent."""
        if self._history is not None:
            try:
                self._history.add(text)
            except OSError as error:
                self.warn(tr("The prompt history can't be saved: {error}", error=error))

    def submit_empty(self) -> None:
        """Enter on an empty prompt sends the queue on, or says what was suggested."""
        self._is_held = False
        if not self.is_busy and (self.queue or self.suggestions):
            self._start_next() if self.queue else self.submit(self.suggestions[0])
            return
        first = self.queue[0] if self.queue else None
        if first and first.kind == "prompt" and self.session.steer(first.text):
            del self.queue[0]
            self.refresh()

    def unqueue(self) -> str:
        """Take the last queued message back; empty if there is none."""
        if not self.queue:
            return ""
        text = self.queue.pop().text
        self.refresh()
        return text

    def interrupt(self) -> bool:
        """End the turn under way, and hold what is queued; False if there is none."""
        if not self.session.interrupt():
            if self._turn is None:
                return False
            asyncio.get_running_loop().call_soon(self.session.interrupt)  # it is about to begin
        if self.queue and not self._is_held:
            self._is_held = True
            self.say_notice(tr("The queue is on hold. Enter on an empty prompt sends it."))
        return True

    def next_mode(self) -> None:
        """Change to the next permission mode."""
        self.set_mode(mode_after(self.session.mode))

    def set_mode(self, name: str) -> None:
        """Change the permission mode; raises UserError if it can't be chosen here."""
        if name not in self.modes:
            raise UserError(
                tr("{mode} is not a mode you can choose here.", mode=name),
                hint=tr("The modes are {names}.", names=", ".join(self.modes)),
            )
        self.session.set_mode(Mode(name))
        self.refresh()

    # ── slash commands ───────────────────────────────────────────────────────────────────────────

    @property
    def _all_commands(self) -> list[Command]:
        return with_extensions(self._own_commands, self.session)

    @property
    def commands(self) -> list[Command]:
        """Every command that makes sense in this view, those of extensions included."""
        return [each for each in self._all_commands if each.name not in self.view.unsupported]

    def run_command(self, text: str) -> None:
        """Carry out what was typed after the slash."""
        name, _, argument = text.partition(" ")
        command = find(name, self._all_commands)
        if command is None:
            self.warn(tr("There is no command /{name}.", name=name), tr("/help lists them."))
        elif command.name in self.view.unsupported:
            self.warn(tr("/{name} isn't available here.", name=command.name))
        else:
            self.execute(command, argument.strip())

    def execute(self, command: Command, argument: str = "") -> None:
        """Run a command; its asynchronous part runs in the background."""
        failed = tr("/{name} failed", name=command.name)
        with self.background.guard(failed), carry_out(command.name):
            if work := command.run(self, argument):
                self.command_work.start(work, failed)

    # ── what commands use ────────────────────────────────────────────────────────────────────────

    def warn(self, text: str, hint: str = "") -> None:
        """Show that something is wrong."""
        self._show(ev.Notice(level="warning", text=text, hint=hint))

    def say_notice(self, text: str) -> None:
        """Show a line about something that happened."""
        self._show(ev.Notice(text=text))

    def report(self, what: str, error: Exception) -> None:
        """Tell of a bug of ours, and keep its traceback in the log."""
        log.error("%s", what, exc_info=error)
        where = tr("Details are in {path}.", path=self._log_file) if self._log_file else ""
        cause = f"{type(error).__name__}: {error}"
        text = tr("{what}: this is a bug in agent ({cause}).", what=what, cause=cause)
        self._show(ev.Notice(level="error", text=text, hint=where))

    def warn_busy(self) -> None:
        """Say that there is something to wait for."""
        error = refuse(is_playing=self.is_playing)
        self.warn(error.message, error.hint)

    def refresh(self) -> None:
        """Something changed that a status line shows."""
        if self._window_of and self.session.model != self._window_of:
            self._window_of = self.session.model
            self.background.start(self._learn_window(), tr("Reading the model's limits failed"))
        with self.background.guard(tr("The status line could not be drawn")):
            self.view.refresh()

    @contextmanager
    def exclusively(self) -> Iterator[None]:
        """Keep turns from starting meanwhile; raises UserError if something is under way."""
        if self.is_busy:
            raise refuse(is_playing=self.is_playing)
        self._is_exclusive = True
        try:
            yield
        finally:
            self._is_exclusive = False
            self.refresh()
            self._start_next()

    async def read_diffs(self) -> None:
        self.diffs = await self.session.undoing.diffs(self.session.workspace.root)
        self.refresh()

    def show_again(self, events: Sequence[ev.Event]) -> None:
        """Start over on an empty screen, with what happened before."""
        for event in events:
            self._note(event)
        with self.background.guard(tr("The conversation could not be shown")):
            self.view.reset(events)

    def send(self, prompt: Content | PromptTemplate) -> None:
        """Begin a turn with a prompt that was not typed as it is sent."""
        if self.is_busy:
            self.warn_busy()
            return
        if isinstance(prompt, PromptTemplate):
            self._show(ev.PromptAdded(text=prompt.said))
        self.play(self.session.run(prompt))

    async def resume(self, resume: Resume) -> None:
        """Leave this session for another one; raises UserError if that can't be opened."""
        with self.exclusively():
            if self._prepare is not None:
                resume = await asyncio.to_thread(self._prepare, resume)
            self.following = resume
            self.view.leave()

    def play(self, turn: AsyncGenerator[ev.Event, None], *, is_own: bool = False) -> None:
        """Follow something that reads like a turn, unless one is under way."""
        if self.is_busy:
            self.warn_busy()
            return
        self.runs_own_command = is_own
        self._turn = asyncio.create_task(self._play(turn))
        self.refresh()

    # ── a turn ───────────────────────────────────────────────────────────────────────────────────

    def _begin(self, message: QueuedMessage) -> None:
        if message.kind != "shell":
            self._show(ev.PromptAdded(text=message.text))
            self.play(self.session.run(message.text))
        elif command := message.text.removeprefix("!").strip():
            own = self.session.run_own(command, tool=SHELL_TOOL, options=SHELL_OPTIONS)
            self.play(own, is_own=True)

    async def _play(self, turn: AsyncGenerator[ev.Event, None]) -> None:
        """One turn, then what was queued meanwhile."""
        try:  # what a turn fails with is an event: an error here is the session's own fault
            with self.background.guard(tr("The turn stopped unexpectedly")):
                async with aclosing(turn) as events:
                    async for event in events:
                        self._take(event)
        finally:
            self._turn = None
            self.questions.drop_settled()
            self.refresh()
            self.background.start(self.read_diffs(), tr("Reading what changed failed"))
        if self._makes_title and self.session.has_fast_model and not self.session.title:
            self._makes_title = False
            naming = make_title(self.session, self.refresh)
            self.background.start(naming, tr("Naming the session failed"))
        self._start_next()

    def _start_next(self) -> None:
        while self.queue and not (self.is_busy or self._is_held or self._is_closed):
            self._begin(self.queue.pop(0))
            self.refresh()

    def _take(self, event: ev.Event) -> None:
        """Show an event, and do what else it calls for."""
        self._note(event)
        self._show(event)
        match event:
            case ev.ApprovalAsked() | ev.QuestionAsked() | ev.PlanAsked():
                self.questions.ask(event.request)
            case ev.ApprovalAnswered() | ev.RequestWithdrawn():
                self.questions.withdraw(event.request_id)
            case ev.PlanAnswered() | ev.UsageChanged():
                self.refresh()
            case _:
                pass

    def _note(self, event: ev.Event) -> None:
        """Remember what commands ask for later, of what happens and of what happened before."""
        if isinstance(event, ev.TurnFinished):
            self.finished = event
            self.suggestions = event.suggestion.splitlines()

    def _show(self, event: ev.Event) -> None:
        try:
            self.view.show(event)
        except Exception:  # a view that cannot draw one thing can draw the next
            log.exception("an event could not be shown: %s", event.type)
