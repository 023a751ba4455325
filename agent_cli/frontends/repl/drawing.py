"""What the user sees, drawn with Rich: all foreign text is cleaned here or before."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.markdown import Heading, Markdown, MarkdownElement
from rich.style import Style
from rich.text import Text

from agent_cli.controller.wording import duration
from agent_cli.core.display import (
    DiffBlock,
    Display,
    ImageBlock,
    TableBlock,
    TerminalBlock,
    TextBlock,
    TodoBlock,
)
from agent_cli.core.inbox import ApprovalRequest
from agent_cli.frontends.shared import approval_text
from agent_cli.frontends.shared.approval_text import diff_body
from agent_cli.frontends.shared.call import Call
from agent_cli.frontends.shared.markdown_parser import parser
from agent_cli.frontends.shared.signs import Signs
from agent_cli.lib.cells import pad
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import Style as ForeignStyle
from agent_cli.safety.sanitise import clean, parse_styles, visible

DIM = Style(dim=True)
STRONG = Style(bold=True)
GOOD = Style(color="green")
BAD = Style(color="red")
WAITING = Style(color="yellow")
ACCENT = Style(color="cyan")

_STATE_STYLES = {"running": WAITING, "asking": WAITING, "done": GOOD, "failed": BAD}
_MAX_ARGUMENT_CHARS = 300
_MAX_STATUS_CHARS = 200
_DIFF_LINES = 40
_COLUMN = 16


class _Heading(Heading):
    """A heading at the left, like text."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield self.text


class _Markdown(Markdown):
    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
    }


def markdown(source: str, *, is_flat: bool) -> RenderableType:
    """A clean Markdown text; flat, it is its own best form."""
    if is_flat:
        return Text(source.strip("\n"))
    drawn = _Markdown("", code_theme="ansi_dark", hyperlinks=False)
    drawn.parsed = parser().parse(source)  # as every frontend reads it: raw HTML is text
    return drawn


def call_line(call: Call, signs: Signs) -> Text:
    """State, tool, main argument, result, time."""
    sign = getattr(signs, call.state)
    status = call.told_status.replace("\n", " ")
    parts: list[tuple[str, Style]] = [
        (f"{'  ' * call.depth}{sign} ", _STATE_STYLES[call.state]),
        (call.tool, STRONG),
    ]
    if call.argument:
        parts.append((f"  {_cut(call.argument, _MAX_ARGUMENT_CHARS, signs)}", Style.null()))
    if status:
        style = _STATE_STYLES[call.state] if call.state in ("failed", "asking") else DIM
        parts.append((f"  {_cut(status, _MAX_STATUS_CHARS, signs)}", style))
    parts.append((f"  {duration(call.seconds)}", DIM))
    return Text.assemble(*parts)


def details(call: Call, signs: Signs, most_output: int, *, is_seen: bool = False) -> Iterator[Text]:
    """The lines under a finished call; a change that was seen is not repeated."""
    if call.state == "failed" and (error := clean(call.error).strip("\n")):
        first = error.split("\n")[0]
        if first != call.status:
            yield Text(first, BAD)
    for display in call.displays:
        if not (is_seen and isinstance(display, DiffBlock)):
            yield from _draw_display(display, signs, most_output)


def tail(output: str, most: int) -> Iterator[Text]:
    """The last lines that are not blank."""
    lines = foreign(output.rstrip("\n")).split("\n")
    yield from lines[-most:]


def foreign(output: str) -> Text:
    """What a command printed, in the colours it asked for and nothing else of what it asked."""
    text = Text()
    for span in parse_styles(output):
        text.append(span.text, _foreign_style(span.style))
    return text


def indent_lines(lines: Sequence[Text] | Iterator[Text], signs: Signs) -> list[Text]:
    """Lines under a call."""
    return [Text.assemble((f"   {signs.bar} ", DIM), line) for line in lines]


def approval(request: ApprovalRequest, runs: str, signs: Signs) -> RenderableType:
    """Everything the user needs to decide: what exactly, what it means, why we ask."""
    title = approval_text.one_line(request.title)
    preview = whole(request.preview, signs) if request.preview else [Text(title)]
    rows: list[Text] = [*preview, Text("")]
    for number, step in enumerate(approval_text.told_steps(request), 1):
        note = f"  {step.text}" if step.text else ""
        rows.append(Text.assemble((f"{number:>2}  ", DIM), step.label, (note, DIM)))
    for warning in approval_text.warnings(request):
        rows.append(_row(f"! {tr(approval_text.BEWARE)}", Text(warning, STRONG), WAITING))
    rows += [_row(fact.label, Text(fact.text)) for fact in approval_text.facts(request, runs)]
    if words := approval_text.quote_model(request):
        rows.append(_row(tr(approval_text.MODEL_SAYS), Text(words, Style(italic=True))))
    return Group(*rows)


def whole(block: Display, signs: Signs) -> list[Text]:
    """All of a block, with everything odd in it spelled out."""
    match block:
        case DiffBlock():
            return list(diff(block, signs))
        case TextBlock(text=text) | TerminalBlock(command=text):
            return [Text(line) for line in visible(text).split("\n")]
        case TableBlock():
            rows = (block.columns, *block.rows)
            return [Text(" · ".join(approval_text.one_line(cell) for cell in row)) for row in rows]
        case TodoBlock():
            return list(_todo(block, signs))
        case ImageBlock():
            return [Text(tr("image {path}", path=approval_text.one_line(block.path)))]


def diff(block: DiffBlock, signs: Signs, most: int | None = None) -> Iterator[Text]:
    """A unified diff under its path and figures; signs and colours both tell what changes."""
    yield Text.assemble(
        (approval_text.one_line(block.path), STRONG),
        (f"  +{block.added}", GOOD),
        (f" {signs.minus}{block.removed}", BAD),
    )
    lines = diff_body(block).split("\n")
    styles = {"+": GOOD, "-": BAD, "@": DIM}
    for line in lines[:most]:
        yield Text(line, styles.get(line[:1], Style.null()))
    if most is not None and len(lines) > most:
        left = tr("{n:,} more lines; /diff shows all", n=len(lines) - most)
        yield Text(f"{signs.ellipsis} {left}", DIM)


def _draw_display(display: Display, signs: Signs, most_output: int) -> Iterator[Text]:
    match display:
        case DiffBlock():
            yield from diff(display, signs, _DIFF_LINES)
        case TodoBlock():
            yield from _todo(display, signs)
        case TerminalBlock(output=output) if output.strip():
            yield from tail(output, most_output)
        case _:
            return


def _todo(block: TodoBlock, signs: Signs) -> Iterator[Text]:
    marks = {
        "pending": (signs.open_item, Style.null()),
        "in_progress": (signs.current_item, STRONG),
        "completed": (signs.done_item, DIM),
    }
    for item in block.items:
        mark, style = marks[item.status]
        yield Text(f"{mark} {approval_text.one_line(item.text)}", style)


def _row(label: str, value: Text, style: Style = DIM) -> Text:
    return Text.assemble((pad(label, _COLUMN), style), value)


def _cut(text: str, most: int, signs: Signs) -> str:
    return text if len(text) <= most else f"{text[:most]}{signs.ellipsis}"


def _foreign_style(style: ForeignStyle) -> Style:
    return Style(
        color=_colour(style.fg),
        bgcolor=_colour(style.bg),
        bold=style.bold or None,
        dim=style.dim or None,
        italic=style.italic or None,
        underline=style.underline or None,
        reverse=style.reverse or None,
        strike=style.strike or None,
    )


def _colour(colour: int | tuple[int, int, int] | None) -> str | None:
    if colour is None:
        return None
    return f"color({colour})" if isinstance(colour, int) else "rgb({},{},{})".format(*colour)
