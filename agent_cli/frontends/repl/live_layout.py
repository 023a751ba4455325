"""The layout below the scrollback."""

from typing import TYPE_CHECKING, NamedTuple

from prompt_toolkit.filters import Condition, has_completions
from prompt_toolkit.formatted_text import ANSI, AnyFormattedText, StyleAndTextTuples
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    Window,
)
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.menus import CompletionsMenu
from prompt_toolkit.layout.processors import AfterInput, ConditionalProcessor
from prompt_toolkit.utils import get_cwidth
from prompt_toolkit.widgets import SearchToolbar
from rich.cells import cell_len, set_cell_size

from agent_cli.controller.answers import AnswerOption
from agent_cli.lib.language import mark, tr

if TYPE_CHECKING:
    from agent_cli.frontends.repl.live_stage import LiveStage

PLACEHOLDER = mark("Ask, or / for commands")
_MAX_LINES = 12
"""Lines of the prompt that are in view."""
_MAX_QUEUED = 3


class Windows(NamedTuple):
    """The windows that can have the focus."""

    layout: Layout
    prompt: Window
    question: Window
    own_line: Window


def layout(stage: "LiveStage") -> Windows:
    """What runs, a question or a line to write, the prompt, what completes it, the status."""
    search = SearchToolbar(
        vi_mode=False,
        forward_search_prompt=tr("Search: "),
        backward_search_prompt=tr("Search backwards: "),
    )
    prompt = _prompt(stage, search)
    question = Window(
        FormattedTextControl(lambda: _question(stage), focusable=True, show_cursor=False),
        dont_extend_height=True,
        wrap_lines=True,
    )
    own_line = Window(
        BufferControl(stage.own_line),
        dont_extend_height=True,
        wrap_lines=True,
        get_line_prefix=lambda _line, _wrapped: [("class:accent", f"{stage.line_hint} ")],
    )
    running = Window(
        FormattedTextControl(lambda: _running(stage)), dont_extend_height=True, wrap_lines=True
    )
    body = HSplit(
        [
            ConditionalContainer(running, Condition(lambda: _is_running(stage))),
            ConditionalContainer(question, Condition(lambda: stage.question is not None)),
            ConditionalContainer(own_line, Condition(lambda: bool(stage.line_hint))),
            prompt,
            search,
            ConditionalContainer(CompletionsMenu(max_height=8), has_completions),
            Window(FormattedTextControl(lambda: _status(stage)), height=1),
            Window(height=Dimension(min=0, preferred=0)),
        ]
    )
    return Windows(Layout(body, focused_element=prompt), prompt, question, own_line)


def _prompt(stage: "LiveStage", search: SearchToolbar) -> Window:
    placeholder = ConditionalProcessor(
        AfterInput(tr(PLACEHOLDER), style="class:dim"), Condition(lambda: not stage.prompt.text)
    )
    return Window(
        BufferControl(
            stage.prompt, input_processors=[placeholder], search_buffer_control=search.control
        ),
        dont_extend_height=True,
        height=Dimension(min=1, max=_MAX_LINES),
        wrap_lines=True,
        get_line_prefix=lambda _line, _wrapped: [("class:mark", f"{stage.signs.prompt} ")],
    )


def _is_running(stage: "LiveStage") -> bool:
    view = stage.view
    return view is not None and (view.renderer.is_running or bool(view.controller.queue))


def _running(stage: "LiveStage") -> AnyFormattedText:
    size = stage.size()
    drawn = stage.view.renderer.live(size.columns, max(4, size.rows // 2)) if stage.view else ""
    queue = stage.controller.queue if stage.controller is not None else ()
    lines = [drawn] if drawn else []
    lines += [f"⏎ {_one_line(each.text, size.columns)}" for each in queue[:_MAX_QUEUED]]
    if len(queue) > _MAX_QUEUED:
        lines.append("  " + tr("and {n} more", n=len(queue) - _MAX_QUEUED))
    return ANSI("\n".join(lines)) if lines else ""


def _question(stage: "LiveStage") -> AnyFormattedText:
    asked = stage.question
    if asked is None:
        return ""
    shown: StyleAndTextTuples = [("class:strong", f"{asked.heading}\n")]
    column = max(get_cwidth(answer.label) for answer in asked.answers) + 2
    for number, answer in enumerate(asked.answers):
        shown += _answer(answer, column, stage.signs.right if number == asked.cursor else "")
    shown.append(("class:dim", asked.hint))
    return shown


def _answer(answer: AnswerOption, column: int, cursor: str) -> StyleAndTextTuples:
    padding = " " * (column - get_cwidth(answer.label))
    return [
        ("class:accent", f"{cursor or ' '} "),
        ("class:strong" if cursor else "", f"{answer.label}{padding}"),
        ("class:accent", answer.key),
        ("class:dim", f"    {answer.note}\n" if answer.note else "\n"),
    ]


def _status(stage: "LiveStage") -> AnyFormattedText:
    usual = stage.view.status() if stage.view is not None else ""
    return [("class:dim", stage.passing_hint or usual)]


def _one_line(text: str, columns: int) -> str:
    shown = " ".join(text.split())
    return shown if cell_len(shown) < columns - 4 else f"{set_cell_size(shown, columns - 5)}…"
