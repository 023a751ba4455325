"""The stage of a plain terminal, a screen reader or a pipe: lines in, lines out, nothing moves."""

import asyncio
import contextlib
import signal
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from agent_cli.controller.answers import AnswerOption
from agent_cli.frontends.repl.lines_in import LinesIn
from agent_cli.frontends.repl.live_question import PASSED_ON
from agent_cli.frontends.repl.paper import Paper
from agent_cli.frontends.repl.stage import Abandoned
from agent_cli.frontends.shared.signs import Signs
from agent_cli.frontends.shared.typed import clean_paste
from agent_cli.frontends.shared.typed_ahead import TypedAhead
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import clean

if TYPE_CHECKING:
    from agent_cli.frontends.repl.inline_view import InlineView

_WIDTH = 80
_TWICE = 2.0
_PASTE, _PASTE_END = "\x1b[200~", "\x1b[201~"
_MARK_PASTES, _MARK_NO_PASTES = "\x1b[?2004h", "\x1b[?2004l"


class FlatStage:
    """Prints plain text; questions have numbered answers that are given as a line."""

    def __init__(self, signs: Signs, *, marks_pastes: bool) -> None:
        self.signs = signs
        self.view: InlineView | None = None
        self.paper = Paper(self._print, lambda: _WIDTH, is_flat=True)
        self._lines = LinesIn(sys.stdin.fileno(), self._line)
        self._is_person = self._lines.is_terminal
        self._marks_pastes = marks_pastes and self._is_person
        self._piped: asyncio.Queue[str | None] = asyncio.Queue()
        self._unfinished = ""
        self._guard: TypedAhead | None = None
        self._answer: asyncio.Future[str] | None = None
        self._held: asyncio.TimerHandle | None = None
        self._held_line = ""
        self._shows_prompt = False
        self._early: list[str] = []
        self._left_at = float("-inf")

    async def __aenter__(self) -> "FlatStage":
        self._lines.start()
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._interrupt)
        return self

    async def __aexit__(self, *_: object) -> None:
        asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)
        self._lines.stop()

    async def listen(self, view: "InlineView") -> None:
        """Pass on what comes in, until it ends."""
        self.view = view
        early, self._early = self._early, []
        for line in early:
            self._send(line)
        self.changed()
        while (piped := await self._piped.get()) is not None:
            self._send(piped)
            await view.controller.idle()
        await view.controller.idle()
        view.leave()

    # ── a stage ──────────────────────────────────────────────────────────────────────────────────

    async def choose(
        self, heading: str, answers: Sequence[AnswerOption], *, leave: str | None = None
    ) -> str:
        default = answers[0].id if leave is None else leave
        offered = [Text(heading)]
        for number, answer in enumerate(answers, 1):
            label = answer.label
            if answer.note:
                label = f"{label} ({answer.note})"
            offered.append(Text(f"{number}. {label}"))
        self._say(*offered)
        while True:
            numbers = (str(n) for n, answer in enumerate(answers, 1) if answer.id == default)
            usual = next(numbers, tr("none of these"))
            self._write(tr("Answer with a number (Enter: {usual}): ", usual=usual))
            line = (await self._ask_line()).strip().lower()
            if not line:
                return default
            for number, answer in enumerate(answers, 1):
                if line in (str(number), answer.key):
                    return answer.id
            self._say(Text(tr("Answer with a number from 1 to {n}.", n=len(answers))))

    async def line(self, hint: str) -> str | None:
        self._write(f"{hint} ")
        return (await self._ask_line()).strip() or None

    async def edit(self, text: str) -> str | None:
        self._say(Text(tr("There is no editor here. Say what to change instead.")))
        return None

    def prefill(self, text: str) -> None:
        self._say(Text(tr("Your prompt was: {text}", text=clean(text))))

    def copy(self, text: str) -> bool:
        return False

    def changed(self) -> None:
        asyncio.get_running_loop().call_soon(self._show_prompt)  # what begins now begins first

    def _show_prompt(self) -> None:
        idle = self.view is not None and not self.view.controller.is_busy and not self._answer
        if idle and self._is_person and not self._shows_prompt:
            self._write(f"{self.signs.prompt} ")
            self._shows_prompt = True

    # ── lines ────────────────────────────────────────────────────────────────────────────────────

    def _line(self, line: str | None, when: float) -> None:
        """A line came in; None: no more will."""
        self._shows_prompt = False
        if line is None:
            self._is_person = False  # nobody answers any more
            self._give("")
            self._piped.put_nowait(None)
        elif self._answer is not None:
            self._line_for_question(line, when)
        elif not self._is_person:
            self._piped.put_nowait(line)
        else:
            self._send(line)
            self.changed()

    def _line_for_question(self, line: str, when: float) -> None:
        assert self._guard is not None
        if self._held is not None:  # more after an answer: it was the beginning of something else
            self._held.cancel()
            self._held = None
            self._pass_on(self._held_line, when)
            self._pass_on(line, when)
        elif _PASTE in line or not self._guard.may_answer(when):
            self._pass_on(line, when)
        else:
            self._held_line = line
            loop = asyncio.get_running_loop()
            self._held = loop.call_later(self._guard.settle, self._settle)

    def _settle(self) -> None:
        self._held = None
        if begun := self._lines.take_unfinished():
            self._pass_on(self._held_line + "\n" + begun, time.monotonic())
        else:
            self._give(self._held_line)

    def _give(self, line: str) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(line)

    def _pass_on(self, line: str, when: float) -> None:
        if self._guard is not None:
            self._guard.mark_typed(when)
        self._say(Text(tr(PASSED_ON)))
        self._send(line.replace(_PASTE, "").replace(_PASTE_END, ""))

    def _send(self, line: str) -> None:
        if self.view is None:
            self._early.append(line)
            return
        text = self._unfinished + clean_paste(line)
        self._unfinished = ""
        if text.endswith("\\"):
            self._unfinished = f"{text[:-1]}\n"
        elif text.strip():
            self.view.controller.submit(text)
        else:
            self.view.controller.submit_empty()

    async def _ask_line(self) -> str:
        """A line that was written in view of a question; empty where nobody writes lines."""
        if not self._is_person:
            self._write("\n")
            return ""
        self._guard = TypedAhead()
        self._answer = asyncio.get_running_loop().create_future()
        if begun := self._lines.take_unfinished():
            self._say(Text(tr(PASSED_ON)))
            self._unfinished += clean_paste(begun)
        if self._marks_pastes:
            self._write(_MARK_PASTES)
        self._guard.mark_painted(time.monotonic())
        try:
            return await self._answer
        except asyncio.CancelledError:
            self._write("\n")
            self._say(Text(tr("No answer is needed any more.")))
            raise
        finally:
            self._answer = self._guard = None
            if self._held is not None:
                self._held.cancel()
                self._held = None
            if self._marks_pastes:
                self._write(_MARK_NO_PASTES)

    def _interrupt(self) -> None:
        """Ctrl+C ends the turn; twice without one it leaves."""
        if self.view is None:
            if self._answer is not None and not self._answer.done():
                self._answer.set_exception(Abandoned())
            return
        if self.view.controller.interrupt():
            return
        if self._answer is not None:
            self._give("")
            return
        now = time.monotonic()
        if now - self._left_at < _TWICE or not self._is_person:
            self.view.leave()
        self._left_at = now
        self._say(Text(tr("Press Ctrl+C again to quit.")))
        self.changed()

    def _say(self, *lines: Text) -> None:
        self._print("".join(self.paper.render(line) for line in lines))

    def _print(self, text: str) -> None:
        if self._shows_prompt:
            text, self._shows_prompt = f"\n{text}", False
        self._write(text)

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError):
            sys.stdout.write(text)
            sys.stdout.flush()
