"""A plan to approve, to change, or to think over."""

from textual import work
from textual.app import SuspendNotSupported

from agent_cli.core.inbox import PlanAnswer
from agent_cli.frontends.tui.editor import edit_outside
from agent_cli.frontends.tui.modals.answer_list import Answer
from agent_cli.frontends.tui.modals.guarded import GuardedModal
from agent_cli.frontends.tui.modals.preview import code
from agent_cli.frontends.tui.modals.sheet import Prose
from agent_cli.frontends.tui.modals.typed_ahead import TypedAhead

_HEADING = "Carry out this plan?"


class PlanModal(GuardedModal[PlanAnswer]):
    """Esc keeps planning."""

    def __init__(self, plan: str, *, guard: TypedAhead | None = None) -> None:
        self.plan = plan
        parts = (Prose(code(plan, "markdown")),)
        super().__init__(_HEADING, parts, _answers(is_read=False), guard=guard)

    def end_seen(self) -> None:
        self.update_answers(_answers(is_read=True))

    def give(self, answer: Answer) -> None:
        match answer.id:
            case "because":
                self.open_line("What should change?")
            case "edit":
                self._edit()
            case "default" | "accept-edits" if self.seen_end:
                self.dismiss(PlanAnswer(answer=answer.id, plan=self.plan))
            case _:
                self.dismiss(PlanAnswer(plan=self.plan))

    def give_line(self, text: str) -> None:
        self.dismiss(PlanAnswer(plan=self.plan, reason=text))

    @work(exclusive=True)
    async def _edit(self) -> None:
        try:
            text = await edit_outside(self.app, self.plan)
        except (OSError, SuspendNotSupported, ValueError) as error:
            self.notify(f"The editor cannot be opened: {error}", severity="error", markup=False)
            return
        if text is not None and text.strip():
            self.plan = text
            self.show(_HEADING, (Prose(code(text, "markdown")),), _answers(is_read=False))


def _answers(*, is_read: bool) -> tuple[Answer, ...]:
    return (
        Answer("keep", "Keep planning", "k"),
        Answer("because", "Keep planning, but …", "b"),
        Answer("edit", "Edit the plan", "e"),
        Answer("default", "Yes, and ask before changes", "y", disabled=not is_read),
        Answer("accept-edits", "Yes, and accept edits", "a", disabled=not is_read),
    )
