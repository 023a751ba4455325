"""What the program has to say to the user."""

from collections.abc import Sequence
from typing import Literal

from rich.cells import cell_len
from textual.strip import Strip

from agent_cli.frontends.tui.appearance import PROSE, Appearance
from agent_cli.frontends.tui.blocks.base_block import EDGE, MARGIN, Block
from agent_cli.frontends.tui.styled_lines import Span, wrap
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import clean

Level = Literal["info", "warning", "error"]


class NoticeBlock(Block):
    """Something worth knowing, and what can be done about it."""

    def __init__(self, text: str, hint: str = "", level: Level = "info") -> None:
        self.text = clean(text).strip("\n")
        self.hint = clean(hint).strip("\n")
        self.level: Level = level

    def render(self, width: int, look: Appearance) -> Sequence[Strip]:
        room = min(width - EDGE, PROSE + 2)
        first, rest = self._heading(look)
        style = look.styles.dim if self.level == "info" else None
        lines: list[Strip] = []
        for text in self.text.split("\n"):
            lines += wrap([(text, style)], room, first=rest if lines else first, rest=rest)
        for text in self._advice():
            lines += wrap([(text, look.styles.dim)], room, first=rest)
        return lines

    def plain_text(self) -> str:
        return "\n".join([self.text, *self._advice()])

    def _advice(self) -> list[str]:
        return self.hint.split("\n") if self.hint else []

    def _heading(self, look: Appearance) -> tuple[list[Span], list[Span]]:
        word, style = {
            "info": (f"{look.signs.dot} ", look.styles.dim),
            "warning": (tr("warning") + "  ", look.styles.waiting),
            "error": (tr("error") + "  ", look.styles.failure),
        }[self.level]
        return [*MARGIN, (word, style)], [*MARGIN, (" " * cell_len(word), None)]


class ErrorBlock(NoticeBlock):
    """A turn that failed: the cause, what to do, and the key that retries."""

    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__(text, hint, "error")

    def _advice(self) -> list[str]:
        return [*super()._advice(), tr("r or /retry to try again")]
