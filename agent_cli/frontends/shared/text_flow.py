"""A Markdown text that arrives in pieces, divided into finished blocks and the open one."""

import re
from itertools import pairwise

from agent_cli.frontends.shared.markdown_parser import starts

_FENCE = re.compile(r" {0,3}(?P<marks>`{3,}(?=[^`\n]*\n)|~{3,})[^\n]*\n")


class Flow:
    """Whatever the pieces, the blocks are those of the whole text."""

    def __init__(self) -> None:
        self.finished: list[str] = []
        """The source of each finished block."""
        self.open = ""
        """The source from the beginning of the block that may still grow."""
        self._fence: re.Pattern[str] | None = None
        self._checked = 0

    @property
    def in_fence(self) -> bool:
        """Whether the open block is a block of code that nothing has ended yet."""
        return self._fence is not None

    def feed(self, text: str) -> None:
        """Take the next piece."""
        self.open += text
        if "\n" in text:
            self._divide()

    def end(self) -> None:
        """Nothing more comes."""
        self._divide()
        if self.open.strip():
            self.finished.append(self.open)
        self.open, self._fence, self._checked = "", None, 0

    @property
    def source(self) -> str:
        """The whole text so far."""
        return "".join(self.finished) + self.open

    def _divide(self) -> None:
        """Move what no later line can change to the finished blocks.

        Only whole lines tell: half of one may turn out to mean something else.
        """
        while True:
            if self._fence is None:
                self._split_blocks()
                self._enter_fence()
            if self._fence is None or not self._leave_fence():
                return

    def _split_blocks(self) -> None:
        whole = self.open[: self.open.rfind("\n") + 1]
        if not whole:
            return
        others = starts(whole)[1:]
        if not others:
            return
        lines = [f"{line}\n" for line in whole.split("\n")[:-1]]
        edges = [0, *others]
        for start, end in pairwise(edges):
            self.finished.append("".join(lines[start:end]))
        self.open = "".join(lines[others[-1] :]) + self.open[len(whole) :]

    def _enter_fence(self) -> None:
        blank = len(self.open) - len(self.open.lstrip("\n"))
        if opening := _FENCE.match(self.open, blank):
            marks = opening["marks"]
            closing = rf"^ {{0,3}}{re.escape(marks[0])}{{{len(marks)},}}[ \t]*\n"
            self._fence = re.compile(closing, re.MULTILINE)
            self._checked = opening.end()

    def _leave_fence(self) -> bool:
        assert self._fence is not None
        closing = self._fence.search(self.open, self._checked)
        if closing is None:
            self._checked = max(self._checked, self.open.rfind("\n") + 1)
            return False
        self.finished.append(self.open[: closing.end()])
        self.open = self.open[closing.end() :]
        self._fence, self._checked = None, 0
        return True
