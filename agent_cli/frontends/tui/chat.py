"""A session on one side, the widgets on the other: plays turns and shows what happens in them."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from pathlib import Path

from textual.timer import Timer

from agent_cli.core.errors import ModelError, UserError
from agent_cli.core.events import (
    ApprovalAsked,
    Event,
    PlanAnswered,
    PlanAsked,
    QuestionAsked,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    TurnFinished,
    UsageChanged,
)
from agent_cli.core.session import Session
from agent_cli.core.written import Written
from agent_cli.frontends.shared.endings import ended, has_failed
from agent_cli.frontends.shared.past import resumed_line
from agent_cli.frontends.shared.slash import MODES, OWN_OPTIONS, SHELL
from agent_cli.frontends.tui.asking import Questions
from agent_cli.frontends.tui.blocks.banner import GUIDE_TIPS, TIPS, BannerBlock
from agent_cli.frontends.tui.blocks.notice import ErrorBlock, NoticeBlock
from agent_cli.frontends.tui.blocks.prompt import PromptBlock
from agent_cli.frontends.tui.crashing import CrashingApp
from agent_cli.frontends.tui.gauge import Gauge
from agent_cli.frontends.tui.notify import notify_terminal
from agent_cli.frontends.tui.scribe import Scribe
from agent_cli.frontends.tui.widgets import Widgets
from agent_cli.lib.language import tr, trn
from agent_cli.models.guide import NAME as GUIDE

log = logging.getLogger(__name__)


class Chat:
    """One turn at a time; what is sent meanwhile waits."""

    def __init__(
        self,
        app: CrashingApp[int],
        widgets: Widgets,
        session: Session,
        *,
        log_file: Path | None = None,
    ) -> None:
        self.session = session
        self.scribe = Scribe(widgets.transcript)
        self.gauge = Gauge(session)
        self._app = app
        self._widgets = widgets
        self._transcript = widgets.transcript
        self._queue = widgets.composer.queue
        self._questions = Questions(app, session, self.scribe, widgets.working)
        self._log_file = log_file
        self._turn: asyncio.Task[None] | None = None
        self._has_failed = False
        self.suggestion = ""
        """What the person may well say next: Enter on an empty prompt says it."""
        self._has_named = False
        self._ticking: Timer | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a turn is under way."""
        return self._turn is not None

    def begin(self) -> None:
        """Show what is known at once."""
        self._ticking = self._app.set_interval(1.0, self.changed, pause=True)
        self.gauge.read_branch()
        self.greet()
        self._show_past()
        self.changed()

    # ── what the person does ─────────────────────────────────────────────────────────────────────

    def send(self, text: str, *, is_shell: bool = False) -> None:
        """Begin a turn with it, or let it wait for the one under way."""
        if self._turn is not None:
            self._queue.push(text if is_shell or not _is_shell(text) else f" {text}")
        elif is_shell:
            self._run_own(text[1:].strip())
        else:
            self._run(text)

    def send_written(self, prompt: Written) -> None:
        """Begin a turn with what a command of the person's wrote."""
        if self._turn is not None:
            self.warn(tr("A turn is under way."), tr("Interrupt it with Esc first."))
            return
        self._transcript.add(PromptBlock(prompt.said))
        self._start(self.session.run(prompt))

    def steer(self) -> None:
        """Let the turn under way have what waits, now."""
        waiting = self._queue.messages
        if self._turn is None or not waiting or _is_shell(waiting[0]):
            return  # a command waits until the shell is free
        if self.session.steer(waiting[0].lstrip()):
            self._queue.take_first()

    def retry(self) -> None:
        """Play the turn again that failed."""
        if self._turn is not None:
            self.warn(tr("A turn is under way."), tr("Interrupt it with Esc first."))
        elif not self._has_failed:
            self.warn(tr("There is nothing to try again: the last turn did not fail."))
        else:
            self._start(self.session.run(None))

    def play(self, turn: AsyncGenerator[Event, None]) -> None:
        """Follow something that reads like a turn."""
        if self._turn is not None:
            self.warn(tr("A turn is under way."), tr("Interrupt it with Esc first."))
        else:
            self._start(turn)

    def clear(self) -> None:
        """Begin a new conversation on an empty screen."""
        if self._turn is not None:
            self.warn(tr("A turn is under way."), tr("Interrupt it with Esc first."))
            return
        self.session.forget()
        self.scribe.forget()
        self._transcript.clear()
        self.greet()
        self.tell_panel()
        self.changed()

    def next_mode(self) -> None:
        """Go on to the next mode."""
        current = self.session.mode
        following = MODES[(MODES.index(current) + 1) % len(MODES)] if current in MODES else MODES[0]
        self.session.set_mode(following)
        self.changed()

    def drop_questions(self) -> None:
        """Answer whatever is asked with a no."""
        self._questions.drop()

    async def close(self) -> None:
        """End the turn under way."""
        if self._turn is not None:
            self._turn.cancel()
            await asyncio.wait([self._turn])

    # ── what is on the screen ────────────────────────────────────────────────────────────────────

    def greet(self) -> None:
        """Say where we are."""
        root = self.session.workspace.root
        facts = (self.session.model, tr("{mode} mode", mode=self.session.mode.value))
        home = self.session.workspace.home
        place = f"~{root.removeprefix(home)}" if root.startswith(f"{home}/") else root
        tips = GUIDE_TIPS if self.session.model == GUIDE else TIPS
        self._transcript.add(
            BannerBlock(place=place, branch=self.gauge.branch, facts=facts, tips=tips)
        )

    def show_again(self, events: Iterable[Event]) -> None:
        """Begin with an empty screen and draw what happened before."""
        self.scribe.forget()
        self._transcript.clear()
        self.greet()
        self.scribe.replay(events)
        self.tell_panel()
        self.changed()

    def put_into_prompt(self, text: str) -> None:
        """Let the person have a text to change and to send again."""
        self._widgets.composer.prompt.prepend(text)

    def _show_past(self) -> None:
        """Show a resumed session as it was."""
        past = self.session.past
        if past.head is None:
            return
        self.scribe.replay(past.events)
        ends = [event for event in past.events if isinstance(event, TurnFinished)]
        self._has_failed = bool(ends) and has_failed(ends[-1])
        self._transcript.add(NoticeBlock(resumed_line(past, time.time())))
        if past.unknown:
            self.warn(
                trn(
                    "A newer version of the program wrote {n:,} entry that cannot be shown here.",
                    "A newer version of the program wrote {n:,} entries that cannot be shown here.",
                    past.unknown,
                )
            )

    def warn(self, text: str, hint: str = "") -> None:
        """Show that something is wrong."""
        self._transcript.add(NoticeBlock(text, hint, "warning"))

    def note(self, text: str) -> None:
        """Show something the person should know."""
        self._transcript.add(NoticeBlock(text))

    def own_fault(self, what: str, error: Exception) -> None:
        """Tell of a bug of ours, and keep its traceback."""
        log.error("%s", what, exc_info=error)
        where = tr("See the log.")
        if self._log_file:
            where = tr("The log has more: {path}", path=self._log_file)
        cause = f"{type(error).__name__}: {error}"
        text = tr("This is a bug in the program: {what} ({cause}).", what=what, cause=cause)
        self._transcript.add(ErrorBlock(text, where, can_retry=False))

    def changed(self) -> None:
        """Something the status line tells has changed."""
        if self.gauge.is_stale:
            self._app.run_worker(self._learn_window(), exclusive=False)
        self._widgets.composer.status.status = self.gauge.status()

    def tell_panel(self) -> None:
        """Something the side panel tells has changed."""
        panel = self._widgets.body.panel
        if panel.display:
            panel.tell(self.gauge.overview(self.scribe.files))

    async def look_around(self) -> None:
        """Find out in the background what takes time: the sandbox, the model's process."""
        await self.session.warm()
        self.session.start_extensions(self._take)
        try:
            await self.session.prepare()
        except UserError as error:
            self.warn(error.message, error.hint)
        await self.gauge.learn_sandbox()
        self.changed()
        await self._learn_window()

    async def _learn_window(self) -> None:
        await self.gauge.learn_window()
        self.changed()

    # ── a turn ───────────────────────────────────────────────────────────────────────────────────

    def _run(self, prompt: str) -> None:
        self._transcript.add(PromptBlock(prompt))
        self._start(self.session.run(prompt))

    def _run_own(self, command: str) -> None:
        """Run what the person typed after a `!`, now and unasked."""
        if command:
            self._start(self.session.run_own(command, tool=SHELL, options=OWN_OPTIONS))

    def _start(self, turn: AsyncGenerator[Event, None]) -> None:
        self._turn = asyncio.create_task(self._play(turn))
        self._turn.add_done_callback(self._played)

    def _played(self, turn: "asyncio.Task[None]") -> None:
        """What could not even be told on the screen ends the app, loudly."""
        error = None if turn.cancelled() else turn.exception()
        if isinstance(error, Exception):
            self._app._handle_exception(error)

    async def _play(self, turn: AsyncGenerator[Event, None]) -> None:
        """One turn, then what was queued meanwhile."""
        self._widgets.working.start()
        self.gauge.meter.start()
        if self._ticking is not None:
            self._ticking.resume()
        try:
            async with aclosing(turn) as events:
                async for event in events:
                    self._take(event)
        except Exception as error:  # the screen's fault, not the turn's: that one is an event
            self.own_fault(tr("the screen could not show what happened"), error)
        finally:
            self._widgets.working.stop()
            self.gauge.meter.stop()
            if self._ticking is not None:
                self._ticking.pause()
            self._turn = None
            self._questions.drop()
            self.gauge.read_branch()
            self.tell_panel()
            self.changed()
        self._name_it()
        if text := self._queue.take_first():
            self._run_own(text[1:].strip()) if _is_shell(text) else self._run(text.lstrip())

    def _name_it(self) -> None:
        """After the first turn, have a cheap model find a title."""
        session = self.session
        if session.has_fast_model and not session.title and not self._has_named:
            self._has_named = True
            self._app.run_worker(self._make_title(), exclusive=False)

    async def _make_title(self) -> None:
        try:
            await self.session.make_title()
        except (ModelError, UserError) as error:
            log.info("no title could be made: %s", error)

    def _take(self, event: Event) -> None:
        """Draw an event, and do what else it calls for."""
        self.scribe.write(event)
        match event:
            case ApprovalAsked() | QuestionAsked() | PlanAsked():
                self._questions.add(event.request)
            case PlanAnswered():
                self.changed()
            case ToolFinished():
                self.tell_panel()
            case TextDelta() | ThinkingDelta():
                self.gauge.meter.heard(event.text)
            case UsageChanged():
                self.gauge.meter.counted(event.step.output_tokens)
                self._widgets.working.update(tokens=event.total.output_tokens)
                self.changed()
            case TurnFinished():
                self._has_failed = has_failed(event)
                self.suggestion = event.suggestion
                if event.steps:
                    notify_terminal(self._app, "agent", ended(event))


def _is_shell(text: str) -> bool:
    """Whether it waits as a command; a prompt that looks like one waits with a space before it."""
    return text.startswith("!")
