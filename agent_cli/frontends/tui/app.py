"""The full-screen app: what is on the screen, and which key does what."""

import time
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from textual import events
from textual.app import ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from agent_cli.commands._command import Command
from agent_cli.core.session import Session
from agent_cli.frontends.tui import themes
from agent_cli.frontends.tui.body import Body
from agent_cli.frontends.tui.chat import Chat, Widgets
from agent_cli.frontends.tui.composer import Composer
from agent_cli.frontends.tui.crashing import CrashingApp
from agent_cli.frontends.tui.desk import ScreenDesk
from agent_cli.frontends.tui.modals.guarded import GuardedModal
from agent_cli.frontends.tui.panel import Panel
from agent_cli.frontends.tui.prompt import Prompt
from agent_cli.frontends.tui.terminal_input import TerminalDriver
from agent_cli.frontends.tui.transcript import Transcript
from agent_cli.frontends.tui.working import WorkingLine
from agent_cli.storage.prompt_history import PromptHistory

HERE = Path(__file__).parent
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
        self._history = history
        self._first_prompt = first_prompt
        self._left_at = float("-inf")
        self._transcript = Transcript(id="transcript", reduced_motion=reduced_motion)
        self._working = WorkingLine(id="working", reduced_motion=reduced_motion)
        self._composer = Composer(
            Path(session.workspace.root),
            commands=lambda: self.desk.items(),
            history=history.entries,
        )
        self._body = Body(self._transcript, Panel(id="panel"), id="body")
        widgets = Widgets(self._body, self._working, self._composer)
        self.chat = Chat(self, widgets, session, log_file=log_file)
        self.desk = ScreenDesk(self, self.chat, self._transcript, commands)

    @property
    def session(self) -> Session:
        """The session on the screen."""
        return self.chat.session

    def compose(self) -> ComposeResult:
        yield self._body
        yield self._working
        yield self._composer

    def on_mount(self) -> None:
        self.chat.begin()
        if self._unknown_theme:
            self.chat.warn(f"There is no theme {self._unknown_theme}.", "/theme lists them.")
        self.run_worker(self.chat.look_around(), exclusive=False)
        if self._first_prompt and self._first_prompt.startswith("/"):
            self.call_after_refresh(self.desk.obey, self._first_prompt[1:])
        elif self._first_prompt:
            self.chat.send(self._first_prompt)

    async def on_unmount(self) -> None:
        await self.chat.close()

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Every slash command in Textual's palette too."""
        for command in self.desk:
            does = partial(self.desk.carry_out, command)
            yield SystemCommand(f"/{command.name}", command.help, does)

    # ── what the widgets say ─────────────────────────────────────────────────────────────────────

    def on_prompt_submitted(self, event: Prompt.Submitted) -> None:
        """Send, queue, or carry out a command."""
        event.stop()
        self.chat.suggestion = ""
        self._history.add(event.text)
        if event.kind == "command":
            self.desk.obey(event.body)
        else:
            self.chat.send(event.text, is_shell=event.kind == "shell")

    def on_prompt_submitted_empty(self, event: Prompt.SubmittedEmpty) -> None:
        """Enter on an empty prompt sends what waits, now, or says what was suggested."""
        event.stop()
        if self.chat.suggestion and not self.chat.is_busy:
            self._composer.prompt.replace_all(self.chat.suggestion)
            self._composer.prompt.submit()
            return
        self.chat.steer()

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
            self.action_leave()
        self._left_at = now
        self.notify("Ctrl+C again leaves.", timeout=TWICE, markup=False)

    def on_transcript_retry_asked(self, event: Transcript.RetryAsked) -> None:
        """Try again what failed."""
        event.stop()
        self.chat.retry()

    def on_guarded_modal_typed(self, event: GuardedModal.Typed) -> None:
        """Keys that were not meant for the modal go where they were meant to go."""
        event.stop()
        self._composer.prompt.receive(event.key, event.text)

    def on_guarded_modal_cancelled(self, event: GuardedModal.Cancelled) -> None:
        """Ctrl+C in a modal ends the turn that asks."""
        event.stop()
        self.session.interrupt()

    # ── keys ─────────────────────────────────────────────────────────────────────────────────────

    def on_key(self, event: events.Key) -> None:
        """What is typed while nothing has the focus, at the very start, is for the prompt."""
        if self.focused is None and len(self.screen_stack) == 1:
            text = (event.character or "") if event.is_printable else ""
            self._composer.prompt.receive(event.key, text)

    def action_next_mode(self) -> None:
        self.chat.next_mode()

    def action_panel(self) -> None:
        self._body.toggle_panel()
        self.chat.tell_panel()

    def action_fold_all(self) -> None:
        self._transcript.action_fold_all()

    def action_page(self, by: int) -> None:
        (self._transcript.scroll_page_up if by < 0 else self._transcript.scroll_page_down)()

    def action_help(self) -> None:
        self.desk.help()

    def action_leave(self) -> None:
        self.exit(0)
