"""The answers of a modal, one below the other, each with its key."""

from collections.abc import Sequence

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from agent_cli.controller.answers import AnswerOption
from agent_cli.frontends.tui.ink import FAINT, MUTED


class AnswerList(Widget):
    """Shows answers and which of them the cursor is on; the modal decides what keys mean."""

    class Clicked(Message):
        """The user clicked an answer."""

        def __init__(self, answer: AnswerOption) -> None:
            super().__init__()
            self.answer = answer

    cursor: reactive[int] = reactive(0)
    answers: reactive[tuple[AnswerOption, ...]] = reactive((), layout=True)

    def __init__(self, answers: Sequence[AnswerOption]) -> None:
        super().__init__()
        self.set_reactive(AnswerList.answers, tuple(answers))

    def find(self, key: str) -> AnswerOption | None:
        """The answer a key gives."""
        if key == "enter":
            return self.answers[self.cursor]
        return next((answer for answer in self.answers if answer.key == key), None)

    def move(self, step: int) -> None:
        """To the answer above or below; from No, nothing leads to the widest yes."""
        self.cursor += step

    def point_at(self, answer: AnswerOption) -> None:
        self.cursor = self.answers.index(answer)

    def validate_cursor(self, cursor: int) -> int:
        return min(max(cursor, 0), len(self.answers) - 1)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(_lines(self.answers, self.cursor, width))

    def render(self) -> Content:
        lines = _lines(self.answers, self.cursor, self.content_size.width)
        return Content("\n").join(line for line, _ in lines)

    def on_click(self, event: events.Click) -> None:
        event.stop()
        lines = _lines(self.answers, self.cursor, self.content_size.width)
        if 0 <= event.y < len(lines):
            self.post_message(self.Clicked(self.answers[lines[event.y][1]]))


def _lines(answers: Sequence[AnswerOption], cursor: int, width: int) -> list[tuple[Content, int]]:
    """Each line with the number of the answer it belongs to; a note too long goes below."""
    column = max(cell_len(answer.label) for answer in answers) + 2
    lines: list[tuple[Content, int]] = []
    for number, answer in enumerate(answers):
        chosen = number == cursor
        style = FAINT if answer.disabled else "bold" if chosen else ""
        label = answer.label + " " * (column - cell_len(answer.label))
        line = Content.assemble(
            ("▸ " if chosen else "  ", "$accent"),
            (label, style),
            (answer.key, FAINT if answer.disabled else "$accent"),
        )
        note = answer.note
        if note and line.cell_length + 4 + cell_len(note) <= width:
            line = Content.assemble(line, "    ", (note, MUTED))
            note = ""
        lines.append((line, number))
        # Below, a note takes room: the same one is not repeated.
        if note and (not number or answers[number - 1].note != note):
            below = Content(note).stylize(MUTED).wrap(max(width - 4, 2))
            lines += ((Content.assemble("    ", piece), number) for piece in below)
    return lines
