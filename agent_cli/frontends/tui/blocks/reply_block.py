"""What the model says, as it says it."""

from collections.abc import Sequence

from textual.strip import Strip

from agent_cli.frontends.shared.text_flow import Flow
from agent_cli.frontends.tui.appearance import Appearance
from agent_cli.frontends.tui.blocks.base_block import EDGE, MARGIN, Block
from agent_cli.frontends.tui.markdown_lines import code_line, render
from agent_cli.frontends.tui.styled_lines import BLANK, indent_lines
from agent_cli.safety.sanitise import Cleaner

Shape = tuple[int, Appearance]


class ReplyBlock(Block):
    """A reply in Markdown that may still be arriving.

    While it arrives the lines of its finished parts are kept and only the open part is rendered
    again; a block of code is shown plain, line by line, until it is whole.
    """

    def __init__(self, text: str = "") -> None:
        self._cleaner: Cleaner | None = Cleaner()
        self._flow: Flow = Flow()
        self._shape: Shape | None = None
        self._kept: list[Strip] = []
        self._kept_parts = 0
        self._code: list[Strip] = []
        self._code_read = 0
        if text:
            self.append(text)
            self.finish()

    def append(self, text: str) -> None:
        if self._cleaner is None:
            raise ValueError("the reply is finished")
        self._flow.feed(self._cleaner.feed(text))

    def finish(self) -> None:
        """Nothing more comes."""
        if self._cleaner is not None:
            self._flow.feed(self._cleaner.finish())
            self._flow.end()
            self._cleaner = None

    def render(self, width: int, look: Appearance) -> Sequence[Strip]:
        shape = (width, look)
        if shape != self._shape:
            self._forget()
            self._shape = shape
        finished = self._flow.finished
        for source in finished[self._kept_parts :]:
            self._keep(_lines(source, width, look))
            self._code, self._code_read = [], 0
        self._kept_parts = len(finished)
        if self._cleaner is None:
            lines = self._kept
            self._forget()
            return lines
        arriving = self._open_lines(width, look)
        return [*self._kept, *([BLANK] if self._kept and arriving else ()), *arriving]

    def plain_text(self) -> str:
        return self._flow.source.strip("\n")

    def guess_height(self, width: int) -> int:
        source = self._flow.source
        return source.count("\n") + 1 + len(source) // max(1, width)

    def _forget(self) -> None:
        self._shape = None
        self._kept, self._kept_parts = [], 0
        self._code, self._code_read = [], 0

    def _keep(self, lines: Sequence[Strip]) -> None:
        if lines:
            self._kept += [BLANK, *lines] if self._kept else lines

    def _open_lines(self, width: int, look: Appearance) -> Sequence[Strip]:
        source = self._flow.open
        if not self._flow.in_fence:
            return _lines(source, width, look) if source.strip() else []
        if not self._code_read:
            start = len(source) - len(source.lstrip("\n"))
            self._code_read = source.index("\n", start) + 1
        whole_end = source.rfind("\n") + 1
        if whole_end > self._code_read:
            for text in source[self._code_read : whole_end - 1].split("\n"):
                self._code += _code_lines(text, width)
            self._code_read = whole_end
        rest = source[whole_end:]
        return [*self._code, *_code_lines(rest, width)] if rest else self._code


def _lines(source: str, width: int, look: Appearance) -> list[Strip]:
    return indent_lines(render(source, width - len(MARGIN[0][0]) - EDGE, look), MARGIN)


def _code_lines(text: str, width: int) -> list[Strip]:
    return indent_lines(code_line(text, width - len(MARGIN[0][0]) - EDGE), MARGIN)
