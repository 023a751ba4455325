"""A tool call: one line that says it all, and details under it."""

import time
from collections.abc import Callable, Iterator, Sequence

from textual.strip import Strip

from agent_cli.core.display import DiffBlock, TerminalBlock, TodoBlock
from agent_cli.core.events import ToolFinished, ToolProgress, ToolStarted
from agent_cli.frontends.shared.call import Call
from agent_cli.frontends.tui.appearance import ROW, Appearance
from agent_cli.frontends.tui.blocks.base_block import EDGE, MARGIN, Block
from agent_cli.frontends.tui.blocks.tool_head import Head, head_line
from agent_cli.frontends.tui.displays import display_lines
from agent_cli.frontends.tui.displays.diff_display import diff_preview
from agent_cli.frontends.tui.displays.output_display import output_lines, tail_lines
from agent_cli.frontends.tui.displays.small_displays import todo_lines
from agent_cli.frontends.tui.styled_lines import Line, Span, crop, indent_lines, wrap
from agent_cli.safety.sanitise import clean

_TAIL = 5
"""Lines of output shown while a call runs."""
_AFTER_FAILURE = 3
_MAX_ARGUMENT_LINES = 20
"""Lines of it."""
_MAX_TODO_ITEMS = 8


class ToolBlock(Call, Block):
    """A call from its start to its result."""

    can_fold = True

    def __init__(
        self,
        event: ToolStarted,
        *,
        depth: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(event, depth=depth, clock=clock)
        self._head: tuple[Head, int, Line] | None = None
        self._body: tuple[int, Appearance, Sequence[Strip]] | None = None

    @property
    def ticks(self) -> bool:
        # Behind a question every tick would draw the whole screen, for as long as nobody answers.
        return self.state == "running"

    def progress(self, event: ToolProgress) -> None:
        super().progress(event)
        self._body = None

    def finish(self, event: ToolFinished) -> None:
        super().finish(event)
        self._head = self._body = None

    def render(self, width: int, look: Appearance) -> Sequence[Strip]:
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

    def _head_line(self, width: int, look: Appearance) -> Line:
        seconds = round(self.seconds, 1)
        head = Head(self.state, self.tool, self.argument, self.told_status, seconds, self.depth)
        if self._head is None or self._head[:2] != (head, width):
            self._head = (head, width, head_line(head, width, look))
        return self._head[2]

    def _body_lines(self, width: int, look: Appearance) -> Sequence[Strip]:
        indent = [*MARGIN, ("  " * self.depth + " ", None)]
        bar: list[Span] = [*indent, (f"  {look.signs.bar} ", look.styles.dim)]
        room = max(8, width - EDGE - sum(len(text) for text, _ in bar))
        return indent_lines(self._details(room, look), bar)

    def _details(self, room: int, look: Appearance) -> Sequence[Strip]:
        if self.expanded:
            return self._everything(room, look)
        if self.state == "failed":
            return self._failure(room, look)
        if self.is_running and self._tail:
            return tail_lines(self._tail, room, look, _TAIL)
        return self._preview(room, look)

    def _preview(self, room: int, look: Appearance) -> Sequence[Strip]:
        """What is worth seeing without being asked: changes and todo lists."""
        lines: list[Strip] = []
        for display in self._displays:
            if isinstance(display, DiffBlock):
                lines += diff_preview(display, min(room, ROW), look)
            elif isinstance(display, TodoBlock):
                lines += todo_lines(display, room, look)[:_MAX_TODO_ITEMS]
        return lines

    def _failure(self, room: int, look: Appearance) -> Sequence[Strip]:
        text = clean(self._error).strip("\n").split("\n")[0]
        lines: list[Strip] = []
        for display in self._displays:
            if isinstance(display, TerminalBlock):
                lines += tail_lines(display.output, room, look, _AFTER_FAILURE)
        if text and text != self.status:
            error: list[Span] = [(text, look.styles.failure)]
            lines.insert(0, Line(crop(error, room, look.signs.ellipsis)))
        return lines

    def _everything(self, room: int, look: Appearance) -> Sequence[Strip]:
        lines = list(self._argument_lines(room, look))
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

    def _argument_lines(self, room: int, look: Appearance) -> Iterator[Strip]:
        has_diff = any(isinstance(display, DiffBlock) for display in self._displays)
        for name, value in self._arguments:
            if value == self.argument and len(value) < room // 2:
                continue  # it stands in the line above
            texts = value.rstrip("\n").split("\n")[:_MAX_ARGUMENT_LINES]
            label: list[Span] = [(f"{name}: ", look.styles.dim)]
            if len(texts) == 1:
                yield from wrap([(texts[0], None)], room, first=label, rest=MARGIN)
            elif not has_diff:  # which says it, and better
                yield Line(label)
                for text in texts:
                    yield from wrap([(text, None)], room, first=MARGIN, rest=MARGIN)

    def _texts(self) -> list[str]:
        fields = ("output", "diff", "text")
        shown = (getattr(each, field, "") for each in self._displays for field in fields)
        return [self._text or self._tail, *shown]
