"""The model asks: options to pick from, and always room for the user's own words."""

from collections.abc import Sequence

from textual.content import Content

from agent_cli.controller.answers import YOUR_ANSWER, AnswerOption
from agent_cli.controller.requests import chosen_labels, question_answers, question_heading
from agent_cli.controller.wording import number_of
from agent_cli.core.inbox import Answers, Question, QuestionRequest
from agent_cli.frontends.shared.typed_ahead import TypedAhead
from agent_cli.frontends.tui.modals.guarded_modal import GuardedModal
from agent_cli.frontends.tui.modals.sheet import Part, Prose
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import visible


class QuestionModal(GuardedModal[Answers]):
    """Asks one question after the other and ends with an answer, maybe an empty one, to each."""

    def __init__(self, request: QuestionRequest, *, guard: TypedAhead | None = None) -> None:
        self.request = request
        self._given: list[str] = []
        self._chosen: set[int] = set()
        super().__init__(self._title(), _parts(self._question), self._options(), guard=guard)

    @property
    def _question(self) -> Question:
        return self.request.questions[len(self._given)]

    def handle_armed(self) -> None:
        if not self._question.choices:
            self._write()

    def give(self, answer: AnswerOption) -> None:
        match answer.id:
            case "own":
                self._write()
            case "skip":
                self._next("")
            case "done":
                self._next(chosen_labels(self._question, self._chosen))
            case number if self._question.multiple:
                self._chosen ^= {int(number)}
                self.update_answers(self._options())
            case number:
                self._next(self._question.choices[int(number)].label)

    def give_line(self, text: str) -> None:
        self.close_line()
        self._next(text)

    def leave(self) -> None:
        self._given += [""] * (len(self.request.questions) - len(self._given))
        self.dismiss(Answers(answers=tuple(self._given)))

    def _write(self) -> None:
        self.open_line(tr(YOUR_ANSWER))

    def _next(self, text: str) -> None:
        self._given.append(text)
        self._chosen = set()
        if len(self._given) == len(self.request.questions):
            self.dismiss(Answers(answers=tuple(self._given)))
        else:
            self.show(self._title(), _parts(self._question), self._options())

    def _title(self) -> str:
        total, heading = len(self.request.questions), question_heading(self.request)
        return f"{heading}  {number_of(len(self._given) + 1, total)}" if total > 1 else heading

    def _options(self) -> Sequence[AnswerOption]:
        return tuple(question_answers(self._question, self._chosen))


def _parts(question: Question) -> Sequence[Part]:
    return (Prose(Content(visible(question.text))),)
