"""Tells what happens in a turn: what is finished is printed, what is not is drawn below."""

import asyncio
import time
from collections.abc import Iterable, Sequence

from rich.console import RenderableType
from rich.text import Text

from agent_cli.controller.endings import compaction_text, has_failed, retrying, stop_reason
from agent_cli.controller.wording import duration, rough
from agent_cli.core import events as ev
from agent_cli.core.display import DiffBlock
from agent_cli.core.inbox import ApprovalRequest, Request
from agent_cli.frontends.repl import drawing
from agent_cli.frontends.repl.stage import Stage
from agent_cli.frontends.shared.call import Call
from agent_cli.frontends.shared.text_flow import Flow
from agent_cli.lib.language import tr, trn
from agent_cli.safety.sanitise import Cleaner, clean, visible

_TAIL = 5
"""Lines of output shown of a call."""
_MAX_OWN_LINES = 500
"""Lines of output shown of a command of the user's own."""
_MAX_PROMPT_LINES = 12
"""Lines printed of what the user said; it stands in the session whole."""
_MAX_PROMPT_CHARS = 4_000
_SHOWN_CALLS = 4
_OPEN_SOURCE = 4_000
"""Characters of an unfinished block that are drawn again and again."""
_FRAMES_A_SECOND = 10
_ANNOUNCED_AFTER = 2.0
"""Seconds after which a call that still runs is worth a line of flat text."""


class InlineRenderer:
    """Keeps what is unfinished in the turn under way."""

    def __init__(self, stage: Stage, *, is_still: bool = False) -> None:
        self._stage = stage
        self._paper = stage.paper
        self._is_still = is_still
        self.is_waiting = False
        """Whether the user is asked something: Esc answers it then."""
        self.has_queue = False
        """Whether something is queued: Esc takes it back then."""
        self._flow = Flow()
        self._cleaner = Cleaner()
        self._printed = 0
        self._calls: dict[str, Call] = {}
        self._seen: set[str] = set()
        self._began: float | None = None
        self._tokens = 0
        self._is_thinking = False
        self._most_output = _TAIL
        self._last = ""

    @property
    def is_running(self) -> bool:
        """Whether there is a turn to tell of."""
        return self._began is not None

    def begin(self, *, is_own: bool = False) -> None:
        """A turn starts, or a command of the user's own, whose output is shown whole."""
        self._began, self._tokens, self._is_thinking = time.monotonic(), 0, False
        self._most_output = _MAX_OWN_LINES if is_own else _TAIL

    def end(self) -> None:
        """The turn is over, whatever came of it."""
        self._close()
        self._began = None
        self._calls.clear()
        self._seen.clear()

    def greet(self, facts: Sequence[str]) -> None:
        """Say where we are."""
        told = clean(f" {self._stage.signs.dot} ".join(facts))
        self._put("greeting", Text.assemble(("agent", drawing.STRONG), "  ", (told, drawing.DIM)))

    def prompt(self, text: str) -> None:
        """Print what the user said, of a long prompt the beginning."""
        mark = self._stage.signs.prompt
        lines = clean(text[:_MAX_PROMPT_CHARS]).rstrip("\n").split("\n")[:_MAX_PROMPT_LINES]
        shown = [
            Text.assemble((f"{mark} ", drawing.ACCENT), (line, drawing.STRONG)) for line in lines
        ]
        count = text.rstrip("\n").count("\n") + 1
        if count > len(lines) or len(text) > _MAX_PROMPT_CHARS:
            note = trn(
                "{ellipsis} {n:,} line in all",
                "{ellipsis} {n:,} lines in all",
                count,
                ellipsis=self._stage.signs.ellipsis,
            )
            shown.append(Text.assemble((f"{mark} ", drawing.ACCENT), (note, drawing.DIM)))
        self._put("prompt", *shown)

    def say(self, markdown: str) -> None:
        """Print a text of the program's own, or a whole reply."""
        self._put("reply", drawing.markdown(clean(markdown), is_flat=self._paper.is_flat))

    def warn(self, text: str, hint: str = "", *, is_error: bool = False) -> None:
        """Print that something is wrong."""
        style = drawing.BAD if is_error else drawing.WAITING
        lines = [Text(visible(text), style)]
        if hint:
            lines.append(Text(visible(hint), drawing.DIM))
        self._put("notice", *lines)

    def note(self, text: str) -> None:
        """Print something worth a glance."""
        self._put("notice", Text(visible(text), drawing.DIM))

    def replay(self, events: Iterable[ev.Event]) -> None:
        """Print what happened in earlier turns."""
        for event in events:
            self.write(event)
        self.end()

    def write(self, event: ev.Event) -> None:
        """Tell of one event."""
        match event:
            case ev.TextDelta():
                self._is_thinking = False
                self._flow.feed(self._cleaner.feed(event.text))
                self._print_finished()
            case ev.ThinkingDelta():
                self._is_thinking = True
            case ev.ToolStarted(is_folded=False):
                self._close()
                self._start(event)
            case ev.ToolProgress() if event.call_id in self._calls:
                self._calls[event.call_id].progress(event)
            case ev.ToolFinished():
                self._finish(event)
            case ev.ApprovalAsked() | ev.QuestionAsked() | ev.PlanAsked():
                self._ask(event.request)
            case ev.ApprovalAnswered() | ev.PlanAnswered() if event.call_id in self._calls:
                self._calls[event.call_id].resume()
            case ev.PromptAdded():
                self._close()
                self.prompt(event.text)
            case ev.UsageChanged():
                self._tokens = event.total.output_tokens
            case ev.TurnFinished():
                self._end(event)
            case _:
                self._write_aside(event)
        self._stage.changed()

    def _write_aside(self, event: ev.Event) -> None:
        """What neither the model nor a call says."""
        match event:
            case ev.Notice(level="info", hint=""):
                self.note(event.text)
            case ev.Notice():
                self.warn(event.text, event.hint, is_error=event.level == "error")
            case ev.ModelRetrying():
                self._close()
                self.warn(retrying(event))
            case ev.HistoryCompacted():
                self._close()
                self.note(f"{compaction_text(event)}\n{event.ledger.short()}")
            case _:
                pass

    def live(self, width: int, lines: int) -> str:
        """What is unfinished, as text with styles, in at most so many lines."""
        if self._began is None:
            return ""
        shown: list[str] = []
        if self._flow.open.strip():
            shown += self._draw_open(width, max(1, lines - 2))
        running = list(self._calls.values())[:_SHOWN_CALLS]
        for call in running:
            shown += self._draw_call(call, width)
        if len(self._calls) > len(running):
            left = len(self._calls) - len(running)
            shown.append("   " + tr("and {n} more calls", n=left))
        return "\n".join([*shown[-max(1, lines - 1) :], self._working()])

    def _draw_open(self, width: int, most: int) -> list[str]:
        """The end of the block that still grows; code is coloured when it is whole."""
        if self._flow.in_fence:
            lines = self._flow.open.rstrip("\n").split("\n")[-most:]
            drawn = self._paper.render(Text("\n".join(f" {line}" for line in lines)), width)
        else:
            source = drawing.markdown(self._flow.open[-_OPEN_SOURCE:], is_flat=False)
            drawn = self._paper.render(source, min(width, self._paper.width))
        return drawn.splitlines()[-most:]

    def _draw_call(self, call: Call, width: int) -> list[str]:
        lines = [drawing.call_line(call, self._stage.signs)]
        if call.tail:
            lines += drawing.indent_lines(drawing.tail(call.tail, _TAIL), self._stage.signs)
        drawn: list[str] = []
        for line in lines:
            line.truncate(width - 1, overflow="ellipsis")
            drawn += self._paper.render(line, width).splitlines()
        return drawn

    def _working(self) -> str:
        seconds = time.monotonic() - (self._began or 0.0)
        spinner = self._stage.signs.spinner
        frame = spinner[int(seconds * _FRAMES_A_SECOND) % len(spinner)]
        if self.is_waiting:
            return tr("waiting for you")
        doing = tr("thinking") if self._is_thinking else tr("working")
        parts = [doing, duration(seconds, tenths=False)]
        if self._tokens:
            parts.append(tr("{count} tokens", count=rough(self._tokens)))
        key = tr("ctrl+c interrupts") if self.has_queue else tr("esc interrupts")
        told = f" {self._stage.signs.dot} ".join([*parts, key])
        return told if self._is_still else f"{frame} {told}"

    def _start(self, event: ev.ToolStarted) -> None:
        call = self._calls[event.call_id] = Call(event)
        if self._paper.is_flat:
            asyncio.get_running_loop().call_later(_ANNOUNCED_AFTER, self._announce, call)

    def _announce(self, call: Call) -> None:
        if call.state == "running" and call.call_id in self._calls:
            self._put("call", drawing.call_line(call, self._stage.signs))

    def _ask(self, request: Request) -> None:
        if isinstance(request, ApprovalRequest) and isinstance(request.preview, DiffBlock):
            self._seen.add(request.call_id)
        if call := self._calls.get(request.call_id):
            call.asking()

    def _finish(self, event: ev.ToolFinished) -> None:
        call = self._calls.pop(event.call_id, None)
        if call is not None:
            call.finish(event)
            signs = self._stage.signs
            is_seen = call.call_id in self._seen and call.state == "done"
            below = drawing.details(call, signs, self._most_output, is_seen=is_seen)
            self._put("call", drawing.call_line(call, signs), *drawing.indent_lines(below, signs))

    def _end(self, event: ev.TurnFinished) -> None:
        self._close()
        if line := event.receipt.line(event.usage):
            self.note(line)
        if has_failed(event):
            self.warn(event.error, event.hint or tr("Try again with /retry."), is_error=True)
        elif text := stop_reason(event):
            self.warn(text, event.hint)

    def _close(self) -> None:
        """What streamed so far is whole."""
        self._is_thinking = False
        self._flow.feed(self._cleaner.finish())
        self._flow.end()
        self._print_finished()
        self._flow, self._printed = Flow(), 0

    def _print_finished(self) -> None:
        for source in self._flow.finished[self._printed :]:
            if source.strip():
                self._put("reply", drawing.markdown(source, is_flat=self._paper.is_flat))
        self._printed = len(self._flow.finished)

    def _put(self, kind: str, *things: RenderableType) -> None:
        """Print, after a blank line unless it belongs to what is above."""
        blank = [] if not self._last or (kind == self._last == "call") else [Text("")]
        self._last = kind
        self._paper.put(*blank, *things)
