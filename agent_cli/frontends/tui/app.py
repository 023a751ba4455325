"""The full-screen app: a session on one side, widgets on the other, nothing decided in between."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, ClassVar, Literal

from textual import events
from textual.app import ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.timer import Timer

from agent_cli.commands._command import Command
from agent_cli.core.errors import UserError
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
from agent_cli.core.permissions import Mode
from agent_cli.core.session import Session
from agent_cli.frontends.tui import themes
from agent_cli.frontends.tui.asking import Questions
from agent_cli.frontends.tui.blocks.banner import BannerBlock
from agent_cli.frontends.tui.blocks.notice import ErrorBlock, NoticeBlock
from agent_cli.frontends.tui.blocks.prompt import PromptBlock
from agent_cli.frontends.tui.blocks.reply import ReplyBlock
from agent_cli.frontends.tui.body import Body
from agent_cli.frontends.tui.composer import CommandItem, Composer
from agent_cli.frontends.tui.crashing import CrashingApp
from agent_cli.frontends.tui.gauge import Gauge
from agent_cli.frontends.tui.modals.guarded import GuardedModal
from agent_cli.frontends.tui.modals.help import HelpModal
from agent_cli.frontends.tui.notify import notify_terminal
from agent_cli.frontends.tui.panel import Panel
from agent_cli.frontends.tui.prompt import Prompt
from agent_cli.frontends.tui.scribe import Scribe
from agent_cli.frontends.tui.terminal_input import TerminalDriver
from agent_cli.frontends.tui.transcript import Transcript
from agent_cli.frontends.tui.working import WorkingLine
from agent_cli.storage.prompt_history import PromptHistory

log = logging.getLogger(__name__)

HERE = Path(__file__).parent
MODES = (Mode.DEFAULT, Mode.ACCEPT_EDITS, Mode.PLAN, Mode.AUTO)
"""Those that Shift+Tab goes through; yolo is asked for by name."""
SHELL = "Bash"
"""The tool that runs the person's own commands."""
OWN_OPTIONS = {"timeout": 600_000}
"""A person waits as long as they like, and knows Esc."""
TWICE = 2.0
"""Seconds within which a second Ctrl+C leaves."""


class AgentApp(CrashingApp[int]):
    """Shows a session and passes on what the person does."""

    CSS_PATH: ClassVar = [
        HERE / "app.tcss",
        HERE / "composer.tcss",
        HERE / "modals" / "modals.tcss",
    ]
    TITLE = "agent"
    AUTO_FOCUS = "Prompt"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("shift+tab", "next_mode", "Next mode", show=False, priority=True),
        Binding("ctrl+b", "panel", "Side panel", show=False, priority=True),
        Binding("ctrl+o", "fold_all", "Unfold all", show=False),
        Binding("ctrl+q", "leave", "Leave", show=False),
        Binding("f1", "help", "Help", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
    ]

    def __init__(
        self,
        session: Session,
        commands: Sequence[Command],
        history: PromptHistory,
        *,
        theme: str = themes.DARK.name,
        reduced_motion: bool = False,
        first_prompt: str | None = None,
        log_file: Path | None = None,
        real_terminal: bool = True,
    ) -> None:
        super().__init__(driver_class=TerminalDriver if real_terminal else None)
        themes.register(self)
        self._unknown_theme = "" if theme in self.available_themes else theme
        self.theme = themes.DARK.name if self._unknown_theme else theme
        if reduced_motion:
            self.animation_level = "none"
        self._log_file = log_file
        self._has_failed = False
        self._suggestion = ""
        self.session = session
        self._slash = {name: each for each in commands for name in (each.name, *each.aliases)}
        self._listed = tuple(commands)
        self._history = history
        self._first_prompt = first_prompt
        self._turn: asyncio.Task[None] | None = None
        self._left_at = float("-inf")
        self._transcript = Transcript(id="transcript", reduced_motion=reduced_motion)
        self._working = WorkingLine(id="working", reduced_motion=reduced_motion)
        self._composer = Composer(
            Path(session.workspace.root),
            commands=lambda: [CommandItem(c.name, c.help, c.argument) for c in self._listed],
            history=history.entries,
        )
        self._scribe = Scribe(self._transcript)
        self._questions = Questions(self, session, self._scribe)
        self._gauge = Gauge(session)
        self._body = Body(self._transcript, Panel(id="panel"), id="body")
        self._ticking: Timer | None = None

    # ── what is on the screen ────────────────────────────────────────────────────────────────────

    def compose(self) -> ComposeResult:
        yield self._body
        yield self._working
        yield self._composer

    def on_mount(self) -> None:
        self._gauge.read_branch()
        self._greet()
        self._ticking = self.set_interval(1.0, self.changed, pause=True)
        self.changed()
        if self._unknown_theme:
            self.warn(f"There is no theme {self._unknown_theme}.", "/theme lists them.")
        self.run_worker(self._look_around(), exclusive=False)
        if self._first_prompt:
            self._begin(self._first_prompt)

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Every slash command in Textual's palette too."""
        for command in self._listed:
            does = self._runner(command)
            yield SystemCommand(f"/{command.name}", command.help, does)

    def _runner(self, command: Command) -> Callable[[], None]:
        return lambda: self._carry_out(command, "")

    def _greet(self) -> None:
        root = self.session.workspace.root
        facts = (self.session.model, f"{self.session.mode.value} mode")
        home = self.session.workspace.home
        place = f"~{root.removeprefix(home)}" if root.startswith(f"{home}/") else root
        self._transcript.add(BannerBlock(place=place, branch=self._gauge.branch, facts=facts))

    async def _look_around(self) -> None:
        """Find out in the background what takes time: the sandbox, the model's process."""
        await self.session.warm()
        try:
            await self.session.prepare()
        except UserError as error:
            self.warn(error.message, error.hint)
        await self._gauge.learn_sandbox()
        self.changed()
        await self._learn_window()

    async def _learn_window(self) -> None:
        await self._gauge.learn_window()
        self.changed()

    # ── a turn ───────────────────────────────────────────────────────────────────────────────────

    def on_prompt_submitted(self, event: Prompt.Submitted) -> None:
        """Send, queue, or carry out a command."""
        event.stop()
        self._suggestion = ""
        self._history.add(event.text)
        if event.kind == "command":
            self._command(event.body)
        elif self._turn is not None:
            self._composer.queue.push(_queued(event))
        elif event.kind == "shell":
            self._begin_own(event.body)
        else:
            self._begin(event.text)

    def on_transcript_retry_asked(self, event: Transcript.RetryAsked) -> None:
        """Try again what failed."""
        event.stop()
        self.retry()

    def on_prompt_submitted_empty(self, event: Prompt.SubmittedEmpty) -> None:
        """Enter on an empty prompt sends what waits, now, or says what was suggested."""
        event.stop()
        if self._turn is None and self._suggestion:
            self._composer.prompt.replace_all(self._suggestion)
            self._composer.prompt.submit()
            return
        waiting = self._composer.queue.messages
        if self._turn is None or not waiting or _is_shell(waiting[0]):
            return  # a command waits until the shell is free
        if self.session.steer(waiting[0].lstrip()):
            self._composer.queue.take_first()

    def on_prompt_escaped(self, event: Prompt.Escaped) -> None:
        """Esc takes a waiting message back, otherwise it interrupts."""
        event.stop()
        if text := self._composer.queue.take_back():
            self._composer.prompt.prepend(text)
        else:
            self.session.interrupt()

    def on_prompt_cancelled_empty(self, event: Prompt.CancelledEmpty) -> None:
        """Ctrl+C interrupts; twice without anything to interrupt it leaves."""
        event.stop()
        if self.session.interrupt():
            return
        now = time.monotonic()
        if now - self._left_at < TWICE:
            self.leave()
        self._left_at = now
        self.notify("Ctrl+C again leaves.", timeout=TWICE, markup=False)

    def _begin(self, prompt: str) -> None:
        self._transcript.add(PromptBlock(prompt))
        self._start(self.session.run(prompt))

    def _begin_own(self, command: str) -> None:
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
            self._handle_exception(error)

    async def _play(self, turn: AsyncGenerator[Event, None]) -> None:
        """One turn, then what was queued meanwhile."""
        self._working.start()
        self._gauge.meter.start()
        if self._ticking is not None:
            self._ticking.resume()
        try:
            async with aclosing(turn) as events:
                async for event in events:
                    self._take(event)
        except Exception as error:  # the screen's fault, not the turn's: that one is an event
            self._own_fault("the screen could not show what happened", error)
        finally:
            self._working.stop()
            self._gauge.meter.stop()
            if self._ticking is not None:
                self._ticking.pause()
            self._turn = None
            self._questions.drop()
            self._gauge.read_branch()
            self._tell_panel()
            self.changed()
        if text := self._composer.queue.take_first():
            self._begin_own(text[1:].strip()) if _is_shell(text) else self._begin(text.lstrip())

    def _take(self, event: Event) -> None:
        """Draw an event, and do what only the app can do about it."""
        self._scribe.write(event)
        match event:
            case ApprovalAsked() | QuestionAsked() | PlanAsked():
                self._questions.add(event.request)
            case PlanAnswered():
                self.changed()
            case ToolFinished():
                self._tell_panel()
            case TextDelta() | ThinkingDelta():
                self._gauge.meter.heard(event.text)
            case UsageChanged():
                self._gauge.meter.counted(event.step.output_tokens)
                self._working.update(tokens=event.total.output_tokens)
                self.changed()
            case TurnFinished():
                self._has_failed = event.reason in ("failed", "temporary")
                self._suggestion = event.suggestion
                if event.steps:
                    notify_terminal(self, "agent", f"{event.reason}: {event.text[:80]}")

    # ── questions ────────────────────────────────────────────────────────────────────────────────

    def on_guarded_modal_typed(self, event: GuardedModal.Typed) -> None:
        """Keys that were not meant for the modal go where they were meant to go."""
        event.stop()
        self._composer.prompt.receive(event.key, event.text)

    def on_guarded_modal_cancelled(self, event: GuardedModal.Cancelled) -> None:
        """Ctrl+C in a modal ends the turn that asks."""
        event.stop()
        self.session.interrupt()

    # ── commands, and what they need of us ───────────────────────────────────────────────────────

    def _command(self, text: str) -> None:
        name, _, argument = text.partition(" ")
        command = self._slash.get(name.lower())
        if command is None:
            self.warn(f"There is no command /{name}.", "/help lists them.")
            return
        self._carry_out(command, argument.strip())

    def _carry_out(self, command: Command, argument: str) -> None:
        try:
            command.run(self, argument)
        except Exception as error:  # a broken command must not end the session
            self._own_fault(f"/{command.name} failed", error)

    def _own_fault(self, what: str, error: Exception) -> None:
        """Tell of a bug of ours, and keep its traceback."""
        log.error("%s", what, exc_info=error)
        where = f"The log has more: {self._log_file}" if self._log_file else "See the log."
        text = f"This is a bug in the program: {what} ({type(error).__name__}: {error})."
        self._transcript.add(ErrorBlock(text, where, can_retry=False))

    def say(self, markdown: str) -> None:
        block = ReplyBlock(markdown)
        block.finish()
        self._transcript.add(block)

    def warn(self, text: str, hint: str = "") -> None:
        self._transcript.add(NoticeBlock(text, hint, "warning"))

    def changed(self) -> None:
        if self._gauge.is_stale:
            self.run_worker(self._learn_window(), exclusive=False)
        self._composer.status.status = self._gauge.status()

    def clear(self) -> None:
        if self._turn is not None:
            self.warn("A turn is under way.", "Interrupt it with Esc first.")
            return
        self.session.forget()
        self._scribe.forget()
        self._transcript.clear()
        self._greet()
        self._tell_panel()
        self.changed()

    def retry(self) -> None:
        if self._turn is not None:
            self.warn("A turn is under way.", "Interrupt it with Esc first.")
        elif not self._has_failed:
            self.warn("There is nothing to try again: the last turn did not fail.")
        else:
            self._start(self.session.run(None))

    def copy(self, what: Literal["reply", "all"]) -> None:
        blocks = list(self._transcript.blocks)
        replies = [b.plain_text() for b in blocks if what == "all" or isinstance(b, ReplyBlock)]
        if replies:
            self.copy_to_clipboard("\n\n".join(replies) if what == "all" else replies[-1])
            self.notify("Copied.", markup=False)

    def help(self) -> None:
        named = [(f"/{c.name} {c.argument}".rstrip(), c.help) for c in self._listed]
        self.push_screen(HelpModal(named))

    def changes(self) -> Sequence[str]:
        return self._scribe.diffs

    def window(self) -> int | None:
        return self._gauge.window

    def themes(self) -> Sequence[str]:
        return sorted(self.available_themes)

    def use_theme(self, name: str) -> None:
        self.theme = name

    def leave(self) -> None:
        self.exit(0)

    # ── keys ─────────────────────────────────────────────────────────────────────────────────────

    def on_key(self, event: events.Key) -> None:
        """What is typed while nothing has the focus, at the very start, is for the prompt."""
        if self.focused is None and len(self.screen_stack) == 1:
            text = (event.character or "") if event.is_printable else ""
            self._composer.prompt.receive(event.key, text)

    def action_next_mode(self) -> None:
        current = self.session.mode
        following = MODES[(MODES.index(current) + 1) % len(MODES)] if current in MODES else MODES[0]
        self.session.set_mode(following)
        self.changed()

    def action_panel(self) -> None:
        self._body.toggle_panel()
        self._tell_panel()

    def _tell_panel(self) -> None:
        if self._body.panel.display:
            self._body.panel.tell(self._gauge.overview(self._scribe.files))

    def action_fold_all(self) -> None:
        self._transcript.action_fold_all()

    def action_page(self, by: int) -> None:
        (self._transcript.scroll_page_up if by < 0 else self._transcript.scroll_page_down)()

    def action_help(self) -> None:
        self.help()

    def action_leave(self) -> None:
        self.leave()

    async def on_unmount(self) -> None:
        if self._turn is not None:
            self._turn.cancel()
            await asyncio.wait([self._turn])


def _queued(event: Prompt.Submitted) -> str:
    """A message as it waits: only what was typed as a command begins with its mark."""
    return f" {event.text}" if event.kind == "prompt" and _is_shell(event.text) else event.text


def _is_shell(text: str) -> bool:
    return text.startswith("!")
