"""A plan to approve, to change, or to think over."""

from textual.app import SuspendNotSupported

from agent_cli.controller.answers import PLAN_HEADING, WHAT_CHANGES, AnswerOption
from agent_cli.controller.requests import plan_answers
from agent_cli.core.inbox import PlanAnswer
from agent_cli.frontends.shared.typed_ahead import TypedAhead
from agent_cli.frontends.tui.guarded_app import run_in_background
from agent_cli.frontends.tui.modals.guarded_modal import GuardedModal
from agent_cli.frontends.tui.modals.preview import code
from agent_cli.frontends.tui.modals.sheet import Prose
from agent_cli.frontends.tui.suspended_editor import edit_outside
from agent_cli.lib.language import tr


class PlanModal(GuardedModal[PlanAnswer]):
    """Esc keeps planning."""

    def __init__(self, plan: str, *, guard: TypedAhead | None = None) -> None:
        self.plan = plan
        parts = (Prose(code(plan, "markdown")),)
        super().__init__(tr(PLAN_HEADING), parts, plan_answers(is_read=False), guard=guard)

    def end_seen(self) -> None:
        self.update_answers(plan_answers())

    def give(self, answer: AnswerOption) -> None:
        match answer.id:
            case "because":
                self.open_line(tr(WHAT_CHANGES))
            case "edit":
                run_in_background(self, self._edit, tr("Editing the plan failed"), group="edit")
            case "default" | "accept-edits" if self.seen_end:
                self.dismiss(PlanAnswer(answer=answer.id, plan=self.plan))
            case _:
                self.dismiss(PlanAnswer(plan=self.plan))

    def give_line(self, text: str) -> None:
        self.dismiss(PlanAnswer(plan=self.plan, reason=text))

    async def _edit(self) -> None:
        try:
            text = await edit_outside(self.app, self.plan)
        except (OSError, SuspendNotSupported, ValueError) as error:
            text = tr("The editor can't be opened: {error}", error=error)
            self.notify(text, severity="error", markup=False)
            return
        if text is not None and text.strip():
            self.plan = text
            parts = (Prose(code(text, "markdown")),)
            self.show(tr(PLAN_HEADING), parts, plan_answers(is_read=False))
