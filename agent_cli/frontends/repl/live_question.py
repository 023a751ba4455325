"""A question below the scrollback: a stray key never answers it."""

import asyncio
import time
from collections.abc import Callable, Sequence

from agent_cli.controller.answers import AnswerOption
from agent_cli.frontends.repl.stage import Abandoned
from agent_cli.frontends.shared.typed_ahead import BURST, TypedAhead
from agent_cli.lib.language import mark, tr

_BEAT = 0.05
_MOVES = {"up": -1, "s-tab": -1, "down": 1, "tab": 1}
ANSWERABLE = mark("↑↓ choose · enter confirm")
PASSED_ON = mark("Your keystrokes went to the prompt")

PassOn = Callable[[str, str], None]
"""Gives a key that was not meant for the question, and its text, to the prompt."""


class LiveQuestion:
    """Answers with a cursor on one of them; `given` is the id of the one that was chosen."""

    def __init__(
        self,
        heading: str,
        answers: Sequence[AnswerOption],
        leave: str | None,
        pass_on: PassOn,
        redraw: Callable[[], None],
    ) -> None:
        self.heading = heading
        self.answers = tuple(answers)
        self.cursor = 0
        self.is_armed = False
        """Whether it was in view, and quiet, for long enough to be answered."""
        self.has_passed_on = False
        self.given: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._leave = self.answers[0].id if leave is None else leave
        self._pass = pass_on
        self._redraw = redraw
        self._guard = TypedAhead()
        self._held: tuple[float, str, str, AnswerOption] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._beat: asyncio.TimerHandle | None = None
        self._beat_at = 0.0

    @property
    def hint(self) -> str:
        """What keys do now."""
        told = (PASSED_ON if self.has_passed_on else "", ANSWERABLE if self.is_armed else "")
        return " · ".join(tr(part) for part in told if part)

    def mark_painted(self) -> None:
        """It can be read from now on."""
        if self._beat is None:
            self._beat_at = time.monotonic()
            self._guard.mark_painted(self._beat_at)
            self._wait_a_beat()

    def close(self) -> None:
        """It is asked no more."""
        for each in (self._timer, self._beat):
            if each is not None:
                each.cancel()

    def press(self, key: str, text: str) -> None:
        """A key: an answer if it was meant as one."""
        now = time.monotonic()
        if self._confirms(key, now):
            self._settle()
            return
        if key in _MOVES:
            self._move(_MOVES[key])
            return
        was_held = self._let_go()
        answer = self.answers[self.cursor] if key == "enter" else self._by_key(text)
        if was_held or not self.is_armed or not (answer or key == "escape"):
            self._pass_on(key, text)
        elif answer is None:
            self.leave()
        else:
            self.cursor = self.answers.index(answer)
            self._held = (now, key, text, answer)
            settle = self._guard.settle
            self._timer = asyncio.get_running_loop().call_later(settle, self._settle)

    def leave(self) -> None:
        """The user goes away without an answer."""
        self._give(self._leave)

    def abandon(self) -> None:
        """The user wants to leave altogether."""
        if not self.given.done():
            self.given.set_exception(Abandoned())

    def paste(self, text: str) -> None:
        """What is pasted never answers."""
        self._let_go()
        self._pass_on("paste", text)

    def _wait_a_beat(self) -> None:
        self._beat = asyncio.get_running_loop().call_later(_BEAT, self._arm)

    def _arm(self) -> None:
        """Count the quiet time in beats: while the program is busy it cannot see keys, so that
        time does not count."""
        if self.given.done():
            return
        now = time.monotonic()
        if now - self._beat_at > self._guard.arm:
            self._guard.mark_typed(now)
        self._beat_at = now
        is_armed = self._guard.may_answer(now)
        if is_armed != self.is_armed:
            self.is_armed = is_armed
            self._redraw()
        self._wait_a_beat()

    def _move(self, step: int) -> None:
        self._let_go()
        if self.is_armed:
            self.cursor = min(max(self.cursor + step, 0), len(self.answers) - 1)
            self.has_passed_on = False

    def _confirms(self, key: str, now: float) -> bool:
        """Whether this is the Enter that many people press after a "y", and no burst of keys."""
        return self._held is not None and key == "enter" and now - self._held[0] >= BURST

    def _by_key(self, text: str) -> AnswerOption | None:
        return next((answer for answer in self.answers if text and answer.key == text), None)

    def _settle(self) -> None:
        if self._held is not None:
            *_, answer = self._held
            self._held = None
            self._give(answer.id)

    def _let_go(self) -> bool:
        """What looked like an answer was the beginning of something else."""
        if self._held is None:
            return False
        _, key, text, _ = self._held
        self._held = None
        if self._timer is not None:
            self._timer.cancel()
        self.cursor = 0
        self._pass_on(key, text)
        return True

    def _pass_on(self, key: str, text: str) -> None:
        self._guard.mark_typed(time.monotonic())
        self.is_armed = False
        self.has_passed_on = self.has_passed_on or key != "escape"
        self._pass(key, text)

    def _give(self, answer: str) -> None:
        if not self.given.done():
            self.given.set_result(answer)
