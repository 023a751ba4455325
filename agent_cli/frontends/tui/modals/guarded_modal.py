"""The base of all modals that ask: a stray key never answers them."""

import time
from collections.abc import Sequence
from typing import Any, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Input, Static

from agent_cli.controller.answers import AnswerOption
from agent_cli.frontends.shared.typed_ahead import BURST, TypedAhead
from agent_cli.frontends.tui.ink import MUTED
from agent_cli.frontends.tui.modals.answer_list import AnswerList
from agent_cli.frontends.tui.modals.line import Line
from agent_cli.frontends.tui.modals.sheet import Part, Sheet
from agent_cli.lib.language import mark, tr

Result = TypeVar("Result")

_MOVES = {"up": -1, "shift+tab": -1, "down": 1, "tab": 1}
_SCROLLING = {
    "pageup": Sheet.scroll_page_up,
    "pagedown": Sheet.scroll_page_down,
    "space": Sheet.scroll_page_down,
    "ctrl+up": Sheet.scroll_up,
    "ctrl+down": Sheet.scroll_down,
    "ctrl+home": Sheet.scroll_home,
    "ctrl+end": Sheet.scroll_end,
}
_HINT = mark("↑↓ choose · enter confirm")
_SCROLL_HINT = mark("space scroll · ↑↓ choose · enter confirm")
_PASSED_ON_HINT = mark("Your keystrokes went to the prompt")
_UNREAD_HINT = mark("Scroll to the end (Space) to enable Yes")


class GuardedModal(ModalScreen[Result]):
    """A sheet and a list of answers. The first answer is the default; Esc gives it."""

    AUTO_FOCUS = ""
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (80, "-wide")]  # noqa: RUF012 - as declared
    VERTICAL_BREAKPOINTS = [(0, "-short"), (26, "-tall")]  # noqa: RUF012 - as declared

    class Typed(Message):
        """Something was typed or pasted that was not meant for the modal: it is the prompt's."""

        def __init__(self, key: str, text: str = "") -> None:
            super().__init__()
            self.key = key
            """Textual's name of the key, or "paste"."""
            self.text = text
            """The character or the pasted text; empty for other keys."""

    class Cancelled(Message):
        """Ctrl+C: end whatever led to the question."""

        def __init__(self, modal: "GuardedModal[Any]") -> None:
            super().__init__()
            self.modal = modal

    def __init__(
        self,
        heading: str,
        parts: Sequence[Part],
        answers: Sequence[AnswerOption],
        *,
        corner: str = "",
        guard: TypedAhead | None = None,
    ) -> None:
        super().__init__()
        self.guard = guard or TypedAhead()
        self._heading = heading
        self._corner = corner
        self._sheet = Sheet(parts)
        self._answers = AnswerList(answers)
        self._hint = Static(Content(""), classes="hint", markup=False)
        self._line = Line()
        self._line.display = False
        self._held: tuple[events.Key, AnswerOption] | None = None
        self._timer: Timer | None = None
        self._has_passed_on = False
        self.seen_end = False
        """Whether all of the sheet has been on the screen."""

    def give(self, answer: AnswerOption) -> None:
        """What an answer means. To be defined by each modal."""
        raise NotImplementedError

    def give_line(self, text: str) -> None:
        """What the text of the line means, where a modal opens it."""

    def leave(self) -> None:
        """What Esc means."""
        self.give(self._answers.answers[0])

    def end_seen(self) -> None:
        """Called once, when all of the sheet has been on the screen."""

    def handle_armed(self) -> None:
        """Called when it has been on the screen, and quiet, for long enough to be answered."""

    def open_line(self, placeholder: str) -> None:
        """Ask for a line of text; Enter gives it, Esc goes back to the answers."""
        self._line.placeholder = placeholder
        self._line.value = ""
        self._line.display = True
        self._fit()
        self._line.focus()

    def close_line(self) -> None:
        self._line.display = False
        self._fit()
        self.set_focus(None)

    def show(self, heading: str, parts: Sequence[Part], answers: Sequence[AnswerOption]) -> None:
        """Ask something else. It has to be read first, like what was asked before."""
        self._heading = heading
        self._sheet.show(parts)
        self._answers.cursor = 0
        self._answers.answers = tuple(answers)
        self.seen_end = False
        self._draw_title()
        self._fit()
        self.call_after_refresh(self._mark_painted)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield from (self._sheet, self._answers, self._line, self._hint)

    def on_mount(self) -> None:
        self._draw_title()
        self.call_after_refresh(self._mark_painted)
        self.watch(self.app, "app_focus", self._focus_changed, init=False)
        self._fit()

    def on_resize(self) -> None:
        self._fit()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.give_line(event.value.strip())

    def on_sheet_scrolled(self) -> None:
        self._look_for_end()

    def on_answer_list_clicked(self, event: AnswerList.Clicked) -> None:
        event.stop()
        self._answers.point_at(event.answer)
        if self.guard.may_answer(event.time) and not event.answer.disabled:
            self.give(event.answer)

    def on_paste(self, event: events.Paste) -> None:
        """Text that was pasted never answers."""
        event.stop()
        self._let_go()
        self._pass_on(event.time, "paste", event.text)

    def on_key(self, event: events.Key) -> None:
        if event.key == "ctrl+c":  # can only say no, so it needs no guard
            event.stop()
            event.prevent_default()
            self.post_message(self.Cancelled(self))
            return
        if self.focused is not None:
            if event.key == "escape":
                event.stop()
                self.close_line()
            return
        if self._is_navigation(event) and self.guard.may_answer(event.time):
            event.stop()
            event.prevent_default()
            self._let_go()
            self._navigate(event.key)
        elif event.is_printable or event.key in {"enter", "escape", "backspace"}:
            event.stop()
            event.prevent_default()
            self._press(event)

    def update_answers(self, answers: Sequence[AnswerOption]) -> None:
        self._answers.answers = tuple(answers)

    def _press(self, event: events.Key) -> None:
        if self._confirms(event):
            self._settle()
            return
        held = self._let_go()
        answer = self._answers.find(event.key)
        is_answer = event.key == "escape" or answer is not None
        if held or not is_answer or not self.guard.may_answer(event.time):
            self._pass_on(event.time, event.key, _text(event))
        elif answer is None:
            self.leave()
        else:
            self._answers.point_at(answer)
            if not answer.disabled:
                self._held = (event, answer)
                self._timer = self.set_timer(max(self.guard.settle, 0.001), self._settle)

    def _confirms(self, event: events.Key) -> bool:
        """Whether this is the Enter that many people press after a "y", and no burst of keys."""
        if self._held is None or event.key != "enter":
            return False
        return event.time - self._held[0].time >= BURST

    def _settle(self) -> None:
        if not self.is_active:  # something else came on top meanwhile, or it was withdrawn
            self._let_go()
        elif self._held is not None:
            _, answer = self._held
            self._held = self._timer = None
            self.give(answer)

    def _let_go(self) -> bool:
        """What looked like an answer was the beginning of something else."""
        if self._held is None:
            return False
        (event, _), self._held = self._held, None
        if self._timer is not None:
            self._timer.stop()
        self._pass_on(event.time, event.key, _text(event))
        self._answers.cursor = 0
        return True

    def _pass_on(self, when: float, key: str, text: str) -> None:
        self.guard.mark_typed(when)
        self.post_message(self.Typed(key, text))
        if key != "escape":
            self._has_passed_on = True
            self._draw_hint()

    def _is_navigation(self, event: events.Key) -> bool:
        if self._held is not None and event.is_printable:
            return False
        return event.key in _MOVES or event.key in _SCROLLING

    def _navigate(self, key: str) -> None:
        self._has_passed_on = False
        self._draw_hint()
        if key in _MOVES:
            self._answers.move(_MOVES[key])
        else:
            _SCROLLING[key](self._sheet, animate=False)

    def _fit(self) -> None:
        """The answers are always in view: the sheet gets what they leave."""
        size = self.app.size
        width = self._answers.content_size.width or size.width - 8
        others = self._answers.get_content_height(size, size, width)
        others += (4 if size.height < 26 else 6) + (2 if self._line.display else 0)
        self._sheet.styles.max_height = max(size.height - others, 2)

    def _draw_title(self) -> None:
        corner = f"  {self._corner}" if self._corner else ""
        title = Content.assemble((self._heading, "bold"), (corner, MUTED))
        self.query_one(".dialog").border_title = title

    def _mark_painted(self) -> None:
        self.guard.mark_painted(time.monotonic())
        self._look_for_end()
        self._await_quiet()

    def _await_quiet(self) -> None:
        if self.guard.may_answer(time.monotonic()):
            self.handle_armed()
        else:
            self.set_timer(max(self.guard.arm / 4, 0.01), self._await_quiet)

    def _focus_changed(self, has_focus: bool) -> None:  # noqa: FBT001 - a watcher gets the value
        if has_focus and self.guard.is_painted:
            self.guard.mark_painted(time.monotonic())

    def _look_for_end(self) -> None:
        if self.guard.is_painted and not self.seen_end and self._sheet.is_at_end:
            self.seen_end = True
            self.end_seen()
        if self.guard.is_painted:
            self._draw_hint()

    def _draw_hint(self) -> None:
        hint = _HINT
        if self._has_passed_on:
            hint = _PASSED_ON_HINT
        elif self._sheet.max_scroll_y:
            waits = any(answer.disabled for answer in self._answers.answers)
            hint = _UNREAD_HINT if waits else _SCROLL_HINT
        self._hint.update(Content(tr(hint)))


def _text(event: events.Key) -> str:
    return event.character if event.character and event.is_printable else ""
