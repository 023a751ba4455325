"""The stage of a terminal that can move its cursor: a prompt that stays below the scrollback."""

import asyncio
import base64
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from prompt_toolkit.application import Application, in_terminal
from prompt_toolkit.application.current import set_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer
from prompt_toolkit.data_structures import Size
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.styles import Style

from agent_cli.controller.answers import AnswerOption
from agent_cli.controller.background import Background
from agent_cli.frontends.repl.live_keys import bindings
from agent_cli.frontends.repl.live_layout import layout
from agent_cli.frontends.repl.live_question import LiveQuestion
from agent_cli.frontends.repl.paper import Paper
from agent_cli.frontends.repl.read_ahead import read_ahead
from agent_cli.frontends.shared.chips import Chips, deserves_chip
from agent_cli.frontends.shared.external_editor import edit_text
from agent_cli.frontends.shared.terminal_facts import signs_for
from agent_cli.frontends.shared.typed import clean_paste, fit

if TYPE_CHECKING:
    from agent_cli.controller.controller import Controller
    from agent_cli.frontends.repl.inline_view import InlineView

_STYLE = Style.from_dict(
    {
        "mark": "ansicyan",
        "accent": "ansicyan",
        "dim": "ansibrightblack",
        "strong": "bold",
        "completion-menu": "noinherit",
        "completion-menu.completion": "noinherit",
        "completion-menu.completion.current": "noinherit reverse",
        "completion-menu.meta.completion": "noinherit ansibrightblack",
        "completion-menu.meta.completion.current": "noinherit reverse",
    }
)
_TOGETHER, _DONE = "\x1b[?2026h", "\x1b[?2026l"
"""What comes between them is drawn at once, by terminals that can."""
_TICK = 0.1
_STILL_TICK = 1.0


class LiveStage:
    """Prints above a small region that is drawn again: what runs, a question, the prompt."""

    def __init__(
        self,
        environment: Mapping[str, str],
        *,
        background: Background,
        completer: Completer,
        history: Sequence[str] = (),
        is_still: bool = False,
    ) -> None:
        self.signs = signs_for(environment)
        self.view: InlineView | None = None
        self.question: LiveQuestion | None = None
        self.line_hint = ""
        self.passing_hint = ""
        self.prompt = Buffer(
            multiline=True,
            completer=completer,
            complete_while_typing=True,
            history=InMemoryHistory(list(history)),
        )
        self.own_line = Buffer(multiline=False)
        self.early: list[str] = []
        """What was sent before anybody listened."""
        self._chips = Chips()
        self._typed_line: asyncio.Future[str | None] | None = None
        self._pending = ""
        self._is_aside = False
        self._output = Vt100_Output.from_pty(sys.stdout, term=environment.get("TERM"))
        self._output.enable_cpr = False  # nothing here needs to know where the cursor is
        self.paper = Paper(self._print, lambda: self._output.get_size().columns)
        self.windows = layout(self)
        self._app: Application[None] = Application(
            layout=self.windows.layout,
            key_bindings=bindings(self),
            style=_STYLE,
            output=self._output,
            erase_when_done=True,
            min_redraw_interval=0.03,
        )
        self._app.ttimeoutlen = 0.05  # a lone Esc is told from a sequence after this time
        self._app.timeoutlen = 0.15
        self._app.after_render += lambda _: self._mark_painted()
        self._tick = _STILL_TICK if is_still else _TICK
        self._background = background
        self._running: asyncio.Task[None] | None = None
        self._failure: Exception | None = None

    @property
    def controller(self) -> "Controller | None":
        """Of the session that is on; None before there is one."""
        return self.view.controller if self.view is not None else None

    async def __aenter__(self) -> "LiveStage":
        *lines, begun = read_ahead(sys.stdin.fileno()).split("\n")
        self.early += filter(str.strip, map(clean_paste, lines))
        self.prompt.insert_text(fit(begun))
        self._running = self._background.start(self._run(), "the prompt failed")
        self._background.start(self._tick_on(), "the prompt could not be drawn")
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._flush()
        if self._app.is_running:
            self._app.exit()
        if self._running is not None:
            await asyncio.wait([self._running])
        await self._background.close()
        if self._failure is not None:
            raise self._failure

    def listen(self, view: "InlineView") -> None:
        """Pass on what the user does, and draw what is going on."""
        self.view = view
        early, self.early = self.early, []
        for text in early:
            view.controller.submit(text)
        self.changed()

    # ── a stage ──────────────────────────────────────────────────────────────────────────────────

    async def choose(
        self, heading: str, answers: Sequence[AnswerOption], *, leave: str | None = None
    ) -> str:
        self._flush()
        question = LiveQuestion(heading, answers, leave, self.receive, self.changed)
        self.question = question
        self._app.layout.focus(self.windows.question)
        self.changed()
        try:
            return await question.given
        finally:
            question.close()
            self.question = None
            self._app.layout.focus(self.windows.prompt)
            self.changed()

    async def line(self, hint: str) -> str | None:
        self.line_hint = hint
        self.own_line.reset()
        self._typed_line = asyncio.get_running_loop().create_future()
        self._app.layout.focus(self.windows.own_line)
        self.changed()
        try:
            return await self._typed_line
        finally:
            self.line_hint, self._typed_line = "", None
            self._app.layout.focus(self.windows.prompt)
            self.changed()

    async def edit(self, text: str) -> str | None:
        with self.paper.hold():
            try:
                return await edit_text(text, self._aside(), ".md")
            except (OSError, ValueError):
                return None

    def prefill(self, text: str) -> None:
        self.prompt.text = fit(text)
        self.prompt.cursor_position = len(self.prompt.text)

    def copy(self, text: str) -> bool:
        encoded = base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")
        self._output.write_raw(f"\x1b]52;c;{encoded}\x07")
        self._output.flush()
        return True

    def changed(self) -> None:
        self._app.invalidate()

    def size(self) -> Size:
        """Of the terminal, now."""
        return self._output.get_size()

    def hint(self, text: str, seconds: float) -> None:
        """Show something in place of the status for a while."""
        self.passing_hint = text
        asyncio.get_running_loop().call_later(seconds, self._end_hint)

    def _end_hint(self) -> None:
        self.passing_hint = ""
        self.changed()

    # ── what keys do ─────────────────────────────────────────────────────────────────────────────

    def submit(self) -> None:
        """Send what is written."""
        written = self.prompt.text
        text = self._chips.expand(written)
        if not written.strip():
            if self.controller is not None:
                self.controller.submit_empty()
            return
        self.prompt.reset(append_to_history=True)
        self._chips = Chips()
        if self.controller is None:
            self.early.append(text)
        else:
            self.controller.submit(text)

    def receive(self, key: str, text: str) -> None:
        """Take what was typed elsewhere and meant for the prompt, as if it was typed here."""
        match key:
            case "paste":
                self.take_paste(text)
            case "enter":
                self.submit()
            case "escape":
                self.escape()
            case "backspace":
                self.prompt.delete_before_cursor()
            case _ if text.isprintable():
                self.prompt.insert_text(text)

    def take_paste(self, text: str) -> None:
        """Put a paste into the prompt, a long one as a chip."""
        plain = clean_paste(text)
        self.prompt.insert_text(self._chips.add(plain) if deserves_chip(plain) else fit(text))

    def escape(self) -> None:
        """Take a waiting message back, otherwise interrupt."""
        if self.controller is None:
            return
        if waiting := self.controller.unqueue():
            rest = self.prompt.text
            self.prompt.text = f"{waiting}\n{rest}" if rest.strip() else waiting
            self.prompt.cursor_position = len(waiting)
        else:
            self.controller.interrupt()

    def end_line(self, text: str | None) -> None:
        """Give the line that was asked for; None: go back."""
        if self._typed_line is not None and not self._typed_line.done():
            self._typed_line.set_result(text)

    def edit_prompt(self) -> None:
        """Write the prompt in the user's editor."""

        async def edit() -> None:
            text = await self.edit(self._chips.expand(self.prompt.text))
            if text is not None:
                self.prefill(text)

        self._background.start(edit(), "the editor failed")

    # ── drawing ──────────────────────────────────────────────────────────────────────────────────

    def _print(self, text: str) -> None:
        """Print above the region, with everything else that is printed at this moment."""
        if not self._pending:
            asyncio.get_running_loop().call_soon(self._flush)
        self._pending += text

    def _flush(self) -> None:
        if not self._pending or self._is_aside:
            return
        text, self._pending = self._pending, ""
        self._output.write_raw(_TOGETHER)
        self._app.renderer.erase()
        self._output.write_raw(text.replace("\n", "\r\n"))
        self._app._redraw()  # before any key is read: nothing else must come in between
        self._output.write_raw(_DONE)
        self._output.flush()

    def _mark_painted(self) -> None:
        if self.question is not None:
            self.question.mark_painted()

    async def _run(self) -> None:
        """Until we leave, or the terminal is gone."""
        try:
            await self._app.run_async(handle_sigint=False, set_exception_handler=False)
        except (EOFError, OSError):
            pass
        except Exception as error:  # told when we are back in the plain terminal
            self._failure = error
        finally:
            if self.view is not None:
                self.view.leave()

    async def _tick_on(self) -> None:
        while True:
            await asyncio.sleep(self._tick)
            if self.controller is not None and self.controller.is_busy:
                self.changed()

    @asynccontextmanager
    async def _aside(self) -> AsyncIterator[None]:
        self._is_aside = True
        try:
            with set_app(self._app):
                async with in_terminal():
                    yield
        finally:
            self._is_aside = False
            self._flush()
