"""A tool call: one line that says it all, and details under it."""

import json
import time
from collections.abc import Callable, Sequence
from typing import Literal

from textual.strip import Strip

from agent_cli.core.display import DiffBlock, Display, TerminalBlock, TodoBlock
from agent_cli.core.events import ToolFinished, ToolProgress, ToolStarted
from agent_cli.core.messages import text_of
from agent_cli.frontends.shared.bounded import bounded, bounded_text
from agent_cli.frontends.tui.blocks.base import EDGE, MARGIN, Block
from agent_cli.frontends.tui.blocks.tool_head import Head, head_line
from agent_cli.frontends.tui.displays import display_lines
from agent_cli.frontends.tui.displays.diff import diff_preview
from agent_cli.frontends.tui.displays.output import output_lines, tail_lines
from agent_cli.frontends.tui.displays.small import todo_lines
from agent_cli.frontends.tui.lines import Line, Span, crop, indented, wrap
from agent_cli.frontends.tui.look import ROW, Look
from agent_cli.safety.sanitise import clean, visible

State = Literal["running", "asking", "done", "failed"]

_TAIL = 5
"""Lines of output shown while a call runs."""
_AFTER_FAILURE = 3
_TAIL_SOURCE = 4_000
_LONGEST_ARGUMENT = 2_000
_MOST_TODO = 8


class ToolBlock(Block):
    """A call from its start to its result."""

    can_fold = True

    def __init__(
        self,
        event: ToolStarted,
        *,
        depth: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.call_id = event.call_id
        self.tool = visible(event.tool, one_line=True)
        self.argument = visible(event.title[:_LONGEST_ARGUMENT] or _main(event), one_line=True)
        self.depth = (1 if event.parent_id else 0) if depth is None else depth
        self.state: State = "running"
        self.status = clean(event.status)
        self._arguments = _arguments(event)
        self._clock = clock
        self._started = clock()
        self._seconds: float | None = None
        self._tail = ""
        self._displays: tuple[Display, ...] = ()
        self._text = ""
        self._error = ""
        self._head: tuple[Head, int, Line] | None = None
        self._body: tuple[int, Look, Sequence[Strip]] | None = None

    @property
    def is_running(self) -> bool:  # type: ignore[override]
        """Whether its time still counts."""
        return self._seconds is None

    def asking(self) -> None:
        """The call waits for the person's permission or answer."""
        if self.is_running:
            self.state = "asking"

    def resumed(self) -> None:
        """The person has answered, and the call goes on."""
        if self.is_running:
            self.state = "running"

    def progress(self, event: ToolProgress) -> None:
        """Show what a running call says."""
        if event.text:
            self._tail = (self._tail + event.text)[-_TAIL_SOURCE:]
        if event.block is not None:
            self._displays = (bounded(event.block),)
        self._body = None

    def finish(self, event: ToolFinished) -> None:
        """Show what came of the call."""
        result = event.result
        self.state = "done" if result.success else "failed"
        self.status = clean(result.summary)
        self._seconds = event.seconds
        self._tail = ""
        self._displays = tuple(bounded(display) for display in result.display)
        is_told_below = result.error and result.error.message.startswith(result.summary)
        if is_told_below and self._exit_code() is None:
            self.status = ""
        self._text = "" if self._displays else bounded_text(text_of(result.llm_content))
        self._error = bounded_text(result.error.message) if result.error else ""
        self._head = self._body = None

    def render(self, width: int, look: Look) -> Sequence[Strip]:
        head = self._head_line(width, look)
        if self._body is None or self._body[:2] != (width, look):
            self._body = (width, look, self._body_lines(width, look))
        body = self._body[2]
        if not self.is_running:
            self._head = self._body = None  # the transcript keeps the lines
        return [head, *body]

    def plain_text(self) -> str:
        parts = [f"{self.tool} {self.argument}", self.status, clean(self._error)]
        parts += [clean(text) for text in self._texts()]
        return "\n".join(part for part in parts if part)

    def guess_height(self, width: int) -> int:
        return 1

    def toggle(self) -> None:
        super().toggle()
        self._body = None

    def stands_with(self, before: Block) -> bool:
        return isinstance(before, ToolBlock)

    def _head_line(self, width: int, look: Look) -> Line:
        seconds = self._clock() - self._started if self._seconds is None else self._seconds
        status = "waiting for you" if self.state == "asking" else self.status
        if not status:
            status = {"running": "running", "failed": "failed"}.get(self.state, "")
        if self.state == "done" and (code := self._exit_code()):
            told = f"exit {code}"
            status = status if told in status else f"{told}  {status}".rstrip()
        head = Head(self.state, self.tool, self.argument, status, round(seconds, 1), self.depth)
        if self._head is None or self._head[:2] != (head, width):
            self._head = (head, width, head_line(head, width, look))
        return self._head[2]

    def _exit_code(self) -> int | None:
        codes = (d.exit_code for d in self._displays if isinstance(d, TerminalBlock))
        return next((code for code in codes if code is not None), None)

    def _body_lines(self, width: int, look: Look) -> Sequence[Strip]:
        indent = [*MARGIN, ("  " * self.depth + " ", None)]
        bar: list[Span] = [*indent, (f"  {look.signs.bar} ", look.styles.dim)]
        room = max(8, width - EDGE - sum(len(text) for text, _ in bar))
        return indented(self._details(room, look), bar)

    def _details(self, room: int, look: Look) -> Sequence[Strip]:
        if self.expanded:
            return self._everything(room, look)
        if self.is_running:
            if self._tail:
                return tail_lines(self._tail, room, look, _TAIL)
            return self._preview(room, look)
        if self.state == "failed":
            return self._failure(room, look)
        return self._preview(room, look)

    def _preview(self, room: int, look: Look) -> Sequence[Strip]:
        """What is worth seeing without being asked: changes and todo lists."""
        lines: list[Strip] = []
        for display in self._displays:
            if isinstance(display, DiffBlock):
                lines += diff_preview(display, min(room, ROW), look)
            elif isinstance(display, TodoBlock):
                lines += todo_lines(display, room, look)[:_MOST_TODO]
        return lines

    def _failure(self, room: int, look: Look) -> Sequence[Strip]:
        text = clean(self._error).strip("\n").split("\n")[0]
        lines: list[Strip] = []
        for display in self._displays:
            if isinstance(display, TerminalBlock):
                lines += tail_lines(display.output, room, look, _AFTER_FAILURE)
        if text and text != self.status:
            error: list[Span] = [(text, look.styles.failure)]
            lines.insert(0, Line(crop(error, room, look.signs.ellipsis)))
        return lines

    def _everything(self, room: int, look: Look) -> Sequence[Strip]:
        lines: list[Strip] = []
        for name, value in self._arguments:
            if value == self.argument and len(value) < room // 2:
                continue  # it stands in the line above
            label: list[Span] = [(f"{name}: ", look.styles.dim)]
            for text in value.split("\n")[:20]:
                lines += wrap([(text, None)], room, first=label, rest=[("  ", None)])
                label = [("  ", None)]
        if self._error and clean(self._error) != self.status:
            for text in clean(self._error).split("\n"):
                lines += wrap([(text, look.styles.failure)], room)
        for display in self._displays:
            lines += display_lines(display, room, look)
        if self._tail and self.is_running:
            lines += output_lines(self._tail, room, look)
        if self._text and not self._error:
            lines += output_lines(self._text, room, look)
        return lines

    def _texts(self) -> list[str]:
        texts = [self._text or self._tail]
        for display in self._displays:
            texts.append(
                getattr(display, "output", "")
                or getattr(display, "diff", "")
                or getattr(display, "text", "")
            )
        return texts


def _main(event: ToolStarted) -> str:
    """The first argument that is a text, for a tool that names no main one."""
    found = next((value for value in event.arguments.values() if isinstance(value, str)), "")
    return found[:_LONGEST_ARGUMENT]


def _arguments(event: ToolStarted) -> tuple[tuple[str, str], ...]:
    shown = []
    for name, value in list(event.arguments.items())[:20]:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if len(text) > _LONGEST_ARGUMENT:
            text = f"{text[:_LONGEST_ARGUMENT]}…"
        shown.append((visible(name, one_line=True), visible(text)))
    return tuple(shown)
