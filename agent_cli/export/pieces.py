"""What a reader of a session wants to see, in the order in which it was shown."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from agent_cli.core import display as blocks
from agent_cli.core import events as ev
from agent_cli.core.log.history import History
from agent_cli.core.messages import text_of
from agent_cli.core.tool import ToolResult
from agent_cli.lib.language import mark, tr
from agent_cli.safety.sanitise import clean, visible

_ANSWERS = {
    "once": mark("answered: once"),
    "confined": mark("answered: in the sandbox"),
    "session": mark("answered: session"),
    "project": mark("answered: project"),
    "no": mark("answered: no"),
}
_ENDINGS: dict[ev.FinishReason, str] = {
    "interrupted": mark("The turn ended: interrupted."),
    "failed": mark("The turn ended: failed."),
    "temporary": mark("The turn ended: temporary."),
    "step_limit": mark("The turn ended: step limit."),
    "cost_limit": mark("The turn ended: cost limit."),
    "repetition": mark("The turn ended: repetition."),
    "denied": mark("The turn ended: denied."),
}


@dataclass(frozen=True)
class TextPiece:
    """Something said, by whom."""

    by: Literal["person", "model", "thinking", "program"]
    text: str


@dataclass
class CallPiece:
    """A call and what came of it."""

    tool: str
    title: str
    result: ToolResult | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def heading(self) -> str:
        """The call in one line."""
        return visible(f"{self.tool} {self.title}".strip(), one_line=True)

    @property
    def outcome(self) -> str:
        """How it ended, in one line."""
        said = [visible(self.result.summary, one_line=True)] if self.result else []
        return " · ".join(part for part in (*said, *self.notes) if part)


Piece = TextPiece | CallPiece


def pieces(events: Iterable[ev.Event]) -> list[Piece]:
    """The events as a document tells them."""
    told: list[Piece] = []
    calls: dict[str, CallPiece] = {}
    for event in events:
        match event:
            case ev.PromptAdded():
                told.append(TextPiece("person", clean(event.text)))
            case ev.ThinkingDelta():
                told.append(TextPiece("thinking", clean(event.text)))
            case ev.TextDelta():
                told.append(TextPiece("model", clean(event.text)))
            case ev.ToolStarted():
                calls[event.call_id] = CallPiece(event.tool, event.title)
                told.append(calls[event.call_id])
            case ev.ApprovalAnswered():
                if event.call_id in calls:
                    answer = _ANSWERS.get(event.answer, f"answered: {event.answer}")
                    calls[event.call_id].notes.append(tr(answer))
            case ev.ToolFinished():
                if event.call_id in calls:
                    calls[event.call_id].result = event.result
            case _ if said := _notice(event):
                told.append(TextPiece("program", clean(said.strip())))
    return told


def _notice(event: ev.Event) -> str:
    match event:
        case ev.Notice():
            return f"{event.text} {event.hint}"
        case ev.ModelRetrying():
            return tr("{reason} Retried.", reason=event.reason)
        case ev.HistoryCompacted():
            return tr("The conversation was compacted to make room.")
        case ev.TurnFinished() if event.reason != "done":
            return f"{tr(_ENDINGS[event.reason])} {event.error}"
    return ""


def display_text(display: blocks.Display) -> tuple[str, str]:
    """A block as plain text, and the language it is in."""
    match display:
        case blocks.DiffBlock():
            return clean(display.diff), "diff"
        case blocks.TerminalBlock():
            return clean(f"$ {display.command}\n{display.output}".rstrip()), "console"
        case blocks.TextBlock():
            return clean(display.text), display.language
        case blocks.TodoBlock():
            signs = {"completed": "x", "in_progress": "~", "pending": " "}
            lines = (f"[{signs[item.status]}] {item.text}" for item in display.items)
            return clean("\n".join(lines)), ""
        case blocks.TableBlock():
            rows = (display.columns, *display.rows)
            return clean("\n".join("  ".join(row) for row in rows)), ""
        case blocks.ImageBlock():
            said = tr("[{kind} image: {path}]", kind=display.media_type, path=display.path)
            return clean(said), ""


def details(result: ToolResult) -> list[tuple[str, str]]:
    """What a call gave, as texts with their languages."""
    shown = [display_text(display) for display in result.display]
    if not shown and result.llm_content:
        shown = [(clean(text_of(result.llm_content)), "")]
    return [(text, language) for text, language in shown if text.strip()]


def name_of(history: History) -> str:
    """What the document is called."""
    if history.title:
        return visible(history.title, one_line=True)
    prompt = next((e.text for e in history.events if isinstance(e, ev.PromptAdded)), "")
    return visible(prompt[:80], one_line=True).strip() or tr("A session")


def facts(history: History) -> list[str]:
    """What stands under the name."""
    opened = history.opened
    found = [tr("session {id}", id=opened.session), opened.workspace] if opened else []
    found.append(history.model)
    if history.updated is not None:
        found.append(history.updated.strftime("%Y-%m-%d %H:%M UTC"))
    return [visible(fact, one_line=True) for fact in found if fact]
