"""The full-screen app: what is on the screen, and which key does what."""

import time
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import ComposeResult, SystemCommand
from textual.binding import BindingType
from textual.screen import Screen

from agent_cli.core.errors import ExitCode, UserError
from agent_cli.frontends.shared.suggesting import first_of, left_of
from agent_cli.frontends.tui import themes
from agent_cli.frontends.tui.bindings import bindings
from agent_cli.frontends.tui.body import Body
from agent_cli.frontends.tui.composer import Composer
from agent_cli.frontends.tui.crashing import CrashingApp
from agent_cli.frontends.tui.panel import Panel
from agent_cli.frontends.tui.prompt import Prompt
from agent_cli.frontends.tui.terminal_input import TerminalDriver
from agent_cli.frontends.tui.transcript import Transcript
from agent_cli.frontends.tui.widgets import Widgets
from agent_cli.frontends.tui.working import WorkingLine
from agent_cli.lib.language import tr

if TYPE_CHECKING:  # all of it is loaded once the prompt is on the screen
    from agent_cli.core.session import Session
    from agent_cli.frontends.tui.chat import Chat
    from agent_cli.frontends.tui.desk import ScreenDesk
    from agent_cli.frontends.tui.modals.guarded import GuardedModal
    from agent_cli.frontends.tui.opening import Opened

HERE = Path(__file__).parent
TWICE = 2.0
"""Seconds within which a second Ctrl+C leaves, and a second Esc goes back."""


class AgentApp(CrashingApp[int]):
    """Shows a session and passes on what the person does."""

    CSS_PATH: ClassVar = [
        HERE / "app.tcss",
        HERE / "composer.tcss",
        HERE / "modals" / "modals.tcss",
    ]
    TITLE = "agent"
    AUTO_FOCUS = "Prompt"
    BINDINGS: ClassVar[list[BindingType]] = bindings("app")

    def __init__(
        self,
        opening: Callable[[], Awaitable["Opened"]],
        *,
        root: Path,
        theme: str = themes.DARK.name,
        reduced_motion: bool = False,
        first_prompt: str | None = None,
        real_terminal: bool = True,
    ) -> None:
        super().__init__(driver_class=TerminalDriver if real_terminal else None)
        themes.register(self)
        self._wanted_theme = theme
        self.theme = theme if theme in self.available_themes else themes.DARK.name
        if reduced_motion:
            self.animation_level = "none"
        self.refusal: UserError | None = None
        """Why there could be no session."""
        self._opening = opening
        self._opened: Opened | None = None
        self._first_prompt = first_prompt
        self._early: list[Prompt.Submitted] = []
        self._left_at = self._escaped_at = float("-inf")
        transcript = Transcript(id="transcript", reduced_motion=reduced_motion)
        self.widgets = Widgets(
            Body(transcript, Panel(id="panel"), id="body"),
            WorkingLine(id="working", reduced_motion=reduced_motion),
            Composer(
                root,
                commands=lambda: self.desk.items() if self.is_open else (),
                history=lambda: self._opened.history.entries() if self._opened else (),
            ),
        )

    @property
    def is_open(self) -> bool:
        """Whether there is a session behind the prompt by now."""
        return self._opened is not None

    @property
    def chat(self) -> "Chat":
        """The session on the screen; only once it is open."""
        assert self._opened is not None
        return self._opened.chat

    @property
    def desk(self) -> "ScreenDesk":
        """Where slash commands are carried out; only once the session is open."""
        assert self._opened is not None
        return self._opened.desk

    @property
    def session(self) -> "Session":
        """The session; only once it is open."""
        return self.chat.session

    def compose(self) -> ComposeResult:
        yield self.widgets.body
        yield self.widgets.working
        yield self.widgets.composer

    def on_mount(self) -> None:
        self.call_after_refresh(self.run_worker, self._open(), exclusive=False)

    async def on_unmount(self) -> None:
        if self.is_open:
            await self.chat.close()

    async def _open(self) -> None:
        """Get the session ready, then do what was asked meanwhile."""
        try:
            self._opened = opened = await self._opening()
        except UserError as error:
            self.refusal = error
            self.exit(error.exit_code)
            return
        opened.chat.begin()
        self._use_theme(opened.theme or self._wanted_theme)
        if opened.note:
            opened.chat.note(opened.note)
        for warning in opened.warnings:
            opened.chat.warn(warning)
        self.run_worker(opened.chat.look_around(), exclusive=False)
        if opened.choosing is not None:
            opened.desk.choose_session(opened.choosing)
        if self._first_prompt:
            opened.chat.send(self._first_prompt)
        early, self._early = self._early, []
        for event in early:
            self._obey(event)
        self.widgets.composer.offer_again()

    def _use_theme(self, name: str) -> None:
        if name not in self.available_themes:
            self.chat.warn(tr("There is no theme {name}.", name=name), tr("/theme lists them."))
        elif name != self.theme:
            self.theme = name

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Every slash command in Textual's palette too."""
        for command in self.desk if self.is_open else ():
            does = partial(self.desk.carry_out, command)
            yield SystemCommand(f"/{command.name}", tr(command.help), does)

    # ── what the widgets say ─────────────────────────────────────────────────────────────────────

    def on_prompt_submitted(self, event: Prompt.Submitted) -> None:
        """Send, queue, or carry out a command; at the very start it waits for the session."""
        event.stop()
        if self.is_open:
            self._obey(event)
        else:
            self._early.append(event)

    def _obey(self, event: Prompt.Submitted) -> None:
        self.chat.suggestion = left_of(self.chat.suggestion, event.text)
        if self._opened is not None:
            self._opened.history.add(event.text)
        if event.kind == "command":
            self.desk.obey(event.body)
        else:
            self.chat.send(event.text, is_shell=event.kind == "shell")

    def on_prompt_submitted_empty(self, event: Prompt.SubmittedEmpty) -> None:
        """Enter on an empty prompt sends what waits, now, or says what was suggested."""
        event.stop()
        if not self.is_open:
            return
        if self.chat.suggestion and not self.chat.is_busy:
            self.widgets.composer.prompt.replace_all(first_of(self.chat.suggestion))
            self.widgets.composer.prompt.submit()
        else:
            self.chat.steer()

    def on_prompt_escaped(self, event: Prompt.Escaped) -> None:
        """Esc takes a waiting message back, otherwise it interrupts; twice it offers to go back."""
        event.stop()
        if text := self.widgets.composer.queue.take_back():
            self.widgets.composer.prompt.prepend(text)
        elif not self._interrupt() and self.is_open and not self.widgets.composer.prompt.text:
            now = time.monotonic()
            if now - self._escaped_at < TWICE:
                self.desk.rewind()
            self._escaped_at = now

    def on_prompt_cancelled_empty(self, event: Prompt.CancelledEmpty) -> None:
        """Ctrl+C interrupts; twice without anything to interrupt it leaves."""
        event.stop()
        if self._interrupt():
            return
        now = time.monotonic()
        if now - self._left_at < TWICE:
            self.action_leave()
        self._left_at = now
        self.notify(tr("Ctrl+C again leaves."), timeout=TWICE, markup=False)

    def on_transcript_retry_asked(self, event: Transcript.RetryAsked) -> None:
        """Try again what failed."""
        event.stop()
        self.chat.retry()

    def on_guarded_modal_typed(self, event: "GuardedModal.Typed") -> None:
        """Keys that were not meant for the modal go where they were meant to go."""
        event.stop()
        self.widgets.composer.prompt.receive(event.key, event.text)

    def on_guarded_modal_cancelled(self, event: "GuardedModal.Cancelled") -> None:
        """Ctrl+C in a modal ends the turn that asks; before there are turns, it leaves."""
        event.stop()
        if not self.is_open:
            self.exit(ExitCode.INTERRUPTED)
        elif not self._interrupt():
            self.chat.drop_questions()

    def _interrupt(self) -> bool:
        return self.is_open and self.session.interrupt()

    # ── keys ─────────────────────────────────────────────────────────────────────────────────────

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key):
            self.widgets.transcript.let_keys_through()
        await super().on_event(event)

    def on_key(self, event: events.Key) -> None:
        """What is typed while nothing has the focus, at the very start, is for the prompt."""
        if self.focused is None and len(self.screen_stack) == 1:
            text = (event.character or "") if event.is_printable else ""
            self.widgets.composer.prompt.receive(event.key, text)

    def action_next_mode(self) -> None:
        if self.is_open:
            self.chat.next_mode()

    def action_panel(self) -> None:
        self.widgets.body.toggle_panel()
        if self.is_open:
            self.chat.tell_panel()

    def action_fold_all(self) -> None:
        self.widgets.transcript.action_fold_all()

    def action_page(self, by: int) -> None:
        (
            self.widgets.transcript.scroll_page_up
            if by < 0
            else self.widgets.transcript.scroll_page_down
        )()

    def action_help(self) -> None:
        if self.is_open:
            self.desk.help()

    def action_command_palette(self) -> None:
        from agent_cli.frontends.tui.palette import Palette  # noqa: PLC0415 (rarely needed)

        if not isinstance(self.screen, Palette):
            self.push_screen(Palette())

    def action_leave(self) -> None:
        self.exit(0)
