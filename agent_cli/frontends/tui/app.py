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
from agent_cli.frontends.tui import themes
from agent_cli.frontends.tui.bindings import bindings
from agent_cli.frontends.tui.body import Body
from agent_cli.frontends.tui.composer import Composer
from agent_cli.frontends.tui.guarded_app import GuardedApp, run_in_background
from agent_cli.frontends.tui.panel import Panel
from agent_cli.frontends.tui.prompt import Prompt
from agent_cli.frontends.tui.terminal_input import TerminalDriver
from agent_cli.frontends.tui.transcript import Transcript
from agent_cli.frontends.tui.working import WorkingLine
from agent_cli.lib.language import tr

if TYPE_CHECKING:  # all of it is loaded once the prompt is on the screen
    from agent_cli.controller.controller import Controller
    from agent_cli.core.session import Session
    from agent_cli.frontends.tui.app_parts import AppParts
    from agent_cli.frontends.tui.modals.guarded_modal import GuardedModal

HERE = Path(__file__).parent
TWICE_S = 2.0
"""Seconds within which a second Ctrl+C leaves, and a second Esc offers to rewind."""
CONVERSATION = frozenset({"next_mode", "panel", "fold_all", "page"})
"""What keys do that must not be done behind a modal."""


class AgentApp(GuardedApp[int]):
    """Lays out the widgets and passes on what the user does to the controller."""

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
        opening: Callable[[], Awaitable["AppParts"]],
        *,
        root: Path,
        theme: str = themes.DARK.name,
        reduced_motion: bool = False,
        first_prompt: str | None = None,
        draft: str = "",
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
        self._opened: AppParts | None = None
        self._first_prompt = first_prompt
        self._draft = draft
        self._early: list[Prompt.Submitted] = []
        self._left_at = self._escaped_at = float("-inf")
        self.transcript = Transcript(id="transcript", reduced_motion=reduced_motion)
        self.body = Body(self.transcript, Panel(id="panel"), id="body")
        self.working = WorkingLine(id="working", reduced_motion=reduced_motion)
        self.composer = Composer(
            root,
            commands=lambda: self.controller.commands if self.is_open else (),
            history=lambda: self._opened.history.entries() if self._opened else (),
        )

    @property
    def is_open(self) -> bool:
        """Whether there is a session behind the prompt by now."""
        return self._opened is not None

    @property
    def controller(self) -> "Controller":
        """What the user does goes to it; only once the session is open."""
        assert self._opened is not None
        return self._opened.controller

    @property
    def session(self) -> "Session":
        """The session; only once it is open."""
        return self.controller.session

    def compose(self) -> ComposeResult:
        yield from (self.body, self.working, self.composer)

    def on_mount(self) -> None:
        if self._draft:
            self.composer.prompt.restore(self._draft)
        failed = tr("The session could not be opened")
        self.call_after_refresh(run_in_background, self, self._open, failed)

    async def on_unmount(self) -> None:
        if self.is_open:
            if self.controller.following is None:
                self.controller.keep(self.composer.prompt.draft)
            await self.controller.close()

    async def _open(self) -> None:
        """Get the session ready, then do what was asked meanwhile."""
        try:
            self._opened = opened = await self._opening()
        except UserError as error:
            self.refusal = error
            self.exit(error.exit_code)
            return
        controller = opened.controller
        opened.view.greet()
        controller.begin()
        if (name := opened.theme or self._wanted_theme) in self.available_themes:
            self.theme = name
        else:
            controller.warn(tr("There is no theme {name}.", name=name), tr("/theme lists them."))
        if opened.note:
            controller.say_notice(opened.note)
        for warning in opened.warnings:
            controller.warn(warning)
        if opened.choosing is not None:
            controller.run_command(f"sessions {opened.choosing}")
        if self._first_prompt:
            controller.submit(self._first_prompt, "prompt")
        for event in self._early:
            controller.submit(event.text, event.kind)
        self.composer.offer_again()

    @property
    def can_tell(self) -> bool:
        return self.is_open and not self._exit

    def tell_fault(self, what: str, error: Exception) -> None:
        if isinstance(error, UserError):
            self.controller.warn(error.message, error.hint)
        else:
            self.controller.report(what, error)

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Every slash command in Textual's palette too."""
        for command in self.controller.commands if self.is_open else ():
            run = partial(self.controller.execute, command)
            yield SystemCommand(f"/{command.name}", tr(command.help), run)

    def on_prompt_submitted(self, event: Prompt.Submitted) -> None:
        """Send, queue, or carry out a command; at the very start it waits for the session."""
        event.stop()
        self.transcript.action_follow()
        if self.is_open:
            self.controller.submit(event.text, event.kind)
        else:
            self._early.append(event)

    def on_prompt_submitted_empty(self, event: Prompt.SubmittedEmpty) -> None:
        """Enter on an empty prompt sends the queue on at once, or says what was suggested."""
        event.stop()
        if self.is_open:
            self.controller.submit_empty()

    def on_prompt_escaped(self, event: Prompt.Escaped) -> None:
        """Esc takes the last queued message back, or interrupts; twice it offers to rewind."""
        event.stop()
        if not self.is_open:
            return
        if text := self.controller.unqueue():
            self.composer.prompt.prepend(text)
        elif not self.controller.interrupt() and not self.composer.prompt.text:
            now = time.monotonic()
            if now - self._escaped_at < TWICE_S:
                self.controller.run_command("rewind")
            self._escaped_at = now

    def on_prompt_cancelled_empty(self, event: Prompt.CancelledEmpty) -> None:
        """Ctrl+C interrupts; twice with nothing to interrupt it leaves."""
        event.stop()
        if self.is_open and self.controller.interrupt():
            return
        now = time.monotonic()
        if now - self._left_at < TWICE_S:
            self.action_leave()
        self._left_at = now
        self.notify(tr("Press Ctrl+C again to quit."), timeout=TWICE_S, markup=False)

    def on_transcript_retry_asked(self, event: Transcript.RetryAsked) -> None:
        event.stop()
        self.controller.run_command("retry")

    def on_guarded_modal_typed(self, event: "GuardedModal.Typed") -> None:
        """Keys that were not meant for the modal go where they were meant to go."""
        event.stop()
        self.composer.prompt.receive(event.key, event.text)

    def on_guarded_modal_cancelled(self, event: "GuardedModal.Cancelled") -> None:
        """Ctrl+C in a modal ends the turn that asks; before there are turns, it leaves."""
        event.stop()
        if not self.is_open:
            self.exit(ExitCode.INTERRUPTED)
        elif not self.controller.interrupt():
            self.controller.questions.decline_all()
            if event.modal.is_active:
                event.modal.leave()

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key):
            self.transcript.let_keys_through()
        await super().on_event(event)

    def on_key(self, event: events.Key) -> None:
        """What is typed while nothing has the focus, at the very start, is for the prompt."""
        if self.focused is None and len(self.screen_stack) == 1:
            text = (event.character or "") if event.is_printable else ""
            self.composer.prompt.receive(event.key, text)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys of the conversation do nothing behind whatever is on top of it."""
        return len(self.screen_stack) <= 1 or action not in CONVERSATION

    def action_next_mode(self) -> None:
        if self.is_open:
            self.controller.next_mode()

    def action_panel(self) -> None:
        self.body.toggle_panel()
        if self._opened is not None:
            self._opened.view.draw_panel()

    def action_fold_all(self) -> None:
        self.transcript.action_fold_all()

    def action_page(self, by: int) -> None:
        transcript = self.transcript
        (transcript.scroll_page_up if by < 0 else transcript.scroll_page_down)(animate=False)

    def action_help(self) -> None:
        if self.is_open:
            self.controller.run_command("help")

    def action_command_palette(self) -> None:
        from agent_cli.frontends.tui.palette import Palette  # noqa: PLC0415 (rarely needed)

        if self.is_open and not isinstance(self.screen, Palette):  # else there are no commands
            self.push_screen(Palette())

    def action_leave(self) -> None:
        self.exit(0)
