"""May this call run? Shown whole, answered on purpose."""

from collections.abc import Iterator, Sequence

from textual.content import Content

from agent_cli.core.display import DiffBlock, TerminalBlock, TextBlock
from agent_cli.core.inbox import Approval, ApprovalRequest
from agent_cli.frontends.tui.ink import FAINT, MUTED
from agent_cli.frontends.tui.modals.answer_list import Answer
from agent_cli.frontends.tui.modals.guarded import GuardedModal
from agent_cli.frontends.tui.modals.preview import code, draw, shown_path
from agent_cli.frontends.tui.modals.sheet import Lines, Part, Row, Space
from agent_cli.frontends.tui.modals.typed_ahead import TypedAhead
from agent_cli.safety.sanitise import oddities, visible

_NO = Answer("no", "No", "n")
_BECAUSE = Answer("because", "No, because …", "b")
_BEWARE = Content.styled("⚠ Beware", "$text-warning")
_COLUMN = 16
_STEP_COLUMN = 40


class ApprovalModal(GuardedModal[Approval]):
    """Shows an ApprovalRequest and ends with an Approval; what isn't a clear yes is a no.

    `runs` says where the call would run, in words: "in the sandbox, in ~/src/shop".
    """

    def __init__(
        self,
        request: ApprovalRequest,
        *,
        runs: str = "",
        number: int = 1,
        total: int = 1,
        guard: TypedAhead | None = None,
    ) -> None:
        self.request = request
        super().__init__(
            _heading(request),
            tuple(describe(request, runs)),
            _answers(request, is_read=False),
            corner=f"{number} of {total}" if total > 1 else "",
            guard=guard,
        )

    def end_seen(self) -> None:
        self.update_answers(_answers(self.request, is_read=True))

    def give(self, answer: Answer) -> None:
        match answer.id:
            case "because":
                self.open_line("Why not, or what instead?")
            case "once" | "session" | "project" if self.seen_end:
                self.dismiss(Approval(answer=answer.id))
            case _:
                self.dismiss(Approval())

    def give_line(self, text: str) -> None:
        self.dismiss(Approval(reason=text))


def _heading(request: ApprovalRequest) -> str:
    match request.preview:
        case TerminalBlock():
            return "Run this command?"
        case TextBlock(language="bash"):
            return "Run this command?"
        case DiffBlock():
            return "Make this change?"
        case _:
            return f"Allow {visible(request.tool, one_line=True)}?"


def _answers(request: ApprovalRequest, *, is_read: bool) -> tuple[Answer, ...]:
    answers = [_NO, _BECAUSE, Answer("once", "Yes, once", "y", disabled=not is_read)]
    if request.rule:
        rule = visible(request.rule, one_line=True)
        answers += (
            Answer("session", "Yes, always in this session", "s", rule, disabled=not is_read),
            Answer("project", "Yes, always in this project", "p", rule, disabled=not is_read),
        )
    return tuple(answers)


def describe(request: ApprovalRequest, runs: str = "") -> Iterator[Part]:
    """Everything a person needs to decide: what exactly, what it means, why we ask."""
    preview = request.preview
    yield Lines(draw(preview, request.directory) if preview else Content(_line(request.title)))
    yield Space()
    if request.steps and (len(request.steps) > 1 or request.steps[0].note):
        yield from _steps(request)
        yield Space()
    for warning in _warnings(request):
        yield Row(_BEWARE, Content.styled(warning, "bold"), _COLUMN)
    yield from _rows("Consequences", _not_said_above(request))
    yield from _rows("Leads to", request.resolved)
    if not request.steps:  # a command is shown whole above
        named = shown_path(preview, request.directory) if isinstance(preview, DiffBlock) else None
        yield from _rows("Touches", [path for path in request.targets if path != named])
    yield from _rows("Asked because", request.reasons)
    if request.network:
        yield from _rows("Network", ("it talks to other machines",))
    yield from _rows("Runs", (runs,) if runs else ())
    if request.description:
        said = f"“{visible(request.description, one_line=True)}”"
        yield Row(_label("The model says"), Content.styled(said, "italic"), _COLUMN)


def _not_said_above(request: ApprovalRequest) -> tuple[str, ...]:
    """The consequences that do not stand beside the command they belong to already."""
    return tuple(
        line
        for line in request.consequences
        if not any(line in step.note for step in request.steps)
    )


def _steps(request: ApprovalRequest) -> Iterator[Part]:
    """Each simple command on its own line, what it does beside it."""
    for number, step in enumerate(request.steps, 1):
        label = Content.assemble((f"{number:>2}  ", FAINT), code(_line(step.text), "bash"))
        yield Row(label, Content.styled(_line(step.note), MUTED), _STEP_COLUMN)


def _warnings(request: ApprovalRequest) -> tuple[str, ...]:
    """The engine's, and our own look at what is shown, should the engine not have looked."""
    match request.preview:
        case TextBlock(text=text) | TerminalBlock(command=text) | DiffBlock(diff=text):
            own = oddities(text)
        case _:
            own = oddities(request.title)
    return tuple(dict.fromkeys(_line(warning) for warning in (*request.odd, *own)))


def _rows(label: str, values: Sequence[str]) -> Iterator[Part]:
    for number, value in enumerate(values):
        yield Row(_label("" if number else label), Content(_line(value)), _COLUMN)


def _label(text: str) -> Content:
    return Content.styled(text, MUTED)


def _line(text: str) -> str:
    return visible(text, one_line=True)
