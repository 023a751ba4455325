"""What an undo would do, file by file, before it is done; a conflict is asked about."""

from collections.abc import Iterator

from textual.content import Content

from agent_cli.core.undo.plan import Choice, FilePlan, Preview
from agent_cli.controller.answers import Answer
from agent_cli.frontends.shared.typed_ahead import TypedAhead
from agent_cli.controller.undo_words import (
    MOST_LISTED,
    called,
    conflict_answers,
    file_line,
    heading,
    no,
    yes,
)
from agent_cli.frontends.tui.ink import MUTED
from agent_cli.frontends.tui.modals.guarded import GuardedModal
from agent_cli.frontends.tui.modals.sheet import Part, Prose, Row, Space
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import visible

Choices = dict[str, Choice]


class UndoModal(GuardedModal[Choices | None]):
    """Ends with the choices for the conflicts, or with None: nothing is to be done."""

    def __init__(self, preview: Preview, root: str, *, guard: TypedAhead | None = None) -> None:
        self._root = root
        self._kind = preview.kind
        self._choices: Choices = {}
        self._open: list[FilePlan] = list(preview.conflicts)
        super().__init__(
            heading(preview), tuple(_parts(preview, root)), (no(), yes(preview)), guard=guard
        )

    def give(self, answer: Answer) -> None:
        match answer.id:
            case "no":
                self.dismiss(None)
            case "yes":
                self._next()
            case "keep" | "restore" | "markers":
                self._choices[self._open.pop(0).path] = answer.id
                self._next()

    def leave(self) -> None:
        self.dismiss(None)

    def _next(self) -> None:
        if not self._open:
            self.dismiss(self._choices)
            return
        plan = self._open[0]
        name, fate = file_line(plan, self._root, self._kind)
        parts = (Prose(Content(name)), Prose(Content.styled(fate, MUTED)))
        self.show(tr("You changed this file since"), parts, conflict_answers(plan))


def _parts(preview: Preview, root: str) -> Iterator[Part]:
    for record in preview.records[:MOST_LISTED]:
        yield Prose(Content.styled(visible(called(record), one_line=True), MUTED))
    yield Space()
    if not preview.files:
        yield Prose(Content(tr("All files are as they were already.")))
    for plan in preview.files[:MOST_LISTED]:
        name, fate = file_line(plan, root, preview.kind)
        style = "$warning" if plan.outcome in ("conflict", "lost") else ""
        yield Row(Content(name), Content.styled(fate, style), 40)
    if len(preview.files) > MOST_LISTED:
        yield Prose(Content(tr("and {n:,} more", n=len(preview.files) - MOST_LISTED)))
