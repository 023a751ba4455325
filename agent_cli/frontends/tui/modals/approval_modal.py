"""May this call run? Shown whole, answered on purpose."""

from collections.abc import Iterator

from textual.content import Content

from agent_cli.controller.answers import WHY_NOT, AnswerOption
from agent_cli.controller.requests import approval_answers, approval_heading
from agent_cli.core.inbox import Approval, ApprovalRequest
from agent_cli.frontends.shared import approval_text
from agent_cli.frontends.shared.typed_ahead import TypedAhead
from agent_cli.frontends.tui.ink import FAINT, MUTED
from agent_cli.frontends.tui.modals.guarded_modal import GuardedModal
from agent_cli.frontends.tui.modals.preview import code, draw
from agent_cli.frontends.tui.modals.sheet import Part, SheetLines, SheetRow, Space
from agent_cli.lib.language import tr

_COLUMN = 16
_STEP_COLUMN = 40


class ApprovalModal(GuardedModal[Approval]):
    """Shows an ApprovalRequest and ends with an Approval; what isn't a clear yes is a no.

    `runs` says where the call would run, in words: "in the sandbox, in ~/src/shop";
    `position` which of several questions it is: "2 of 6".
    """

    def __init__(
        self,
        request: ApprovalRequest,
        *,
        runs: str = "",
        position: str = "",
        guard: TypedAhead | None = None,
    ) -> None:
        self.request = request
        super().__init__(
            approval_heading(request),
            tuple(describe(request, runs)),
            approval_answers(request, is_read=False),
            corner=position,
            guard=guard,
        )

    def end_seen(self) -> None:
        self.update_answers(approval_answers(self.request))

    def give(self, answer: AnswerOption) -> None:
        match answer.id:
            case "because":
                self.open_line(tr(WHY_NOT))
            case "once" | "confined" | "session" | "project" if self.seen_end:
                self.dismiss(Approval(answer=answer.id))
            case _:
                self.dismiss(Approval())

    def give_line(self, text: str) -> None:
        self.dismiss(Approval(reason=text))


def describe(request: ApprovalRequest, runs: str = "") -> Iterator[Part]:
    """Everything the user needs to decide: what exactly, what it means, why we ask."""
    title = approval_text.one_line(request.title)
    yield SheetLines(
        draw(request.preview, request.directory) if request.preview else Content(title)
    )
    yield Space()
    if steps := approval_text.told_steps(request):
        yield from _steps(steps)
        yield Space()
    beware = Content.styled(f"⚠ {tr(approval_text.BEWARE)}", "$text-warning")
    for warning in approval_text.warnings(request):
        yield SheetRow(beware, Content.styled(warning, "bold"), _COLUMN)
    for fact in approval_text.facts(request, runs):
        yield SheetRow(Content.styled(fact.label, MUTED), Content(fact.text), _COLUMN)
    if words := approval_text.quote_model(request):
        label = Content.styled(tr(approval_text.MODEL_SAYS), MUTED)
        yield SheetRow(label, Content.styled(words, "italic"), _COLUMN)


def _steps(steps: tuple[approval_text.Fact, ...]) -> Iterator[Part]:
    """Each simple command on its own line, what it does beside it."""
    for number, step in enumerate(steps, 1):
        label = Content.assemble((f"{number:>2}  ", FAINT), code(step.label, "bash"))
        yield SheetRow(label, Content.styled(step.text, MUTED), _STEP_COLUMN)
