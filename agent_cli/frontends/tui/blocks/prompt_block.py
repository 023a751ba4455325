"""What the user said."""

from collections.abc import Sequence

from textual.strip import Strip

from agent_cli.frontends.tui.appearance import PROSE, Appearance
from agent_cli.frontends.tui.blocks.base_block import EDGE, Block
from agent_cli.frontends.tui.styled_lines import Line, Span, wrap
from agent_cli.lib.language import trn
from agent_cli.safety.sanitise import clean

_MAX_FOLDED_LINES = 12
"""Lines shown of a long prompt while it is folded."""
_MAX_CHARS = 200_000
"""Characters; the screen shows no more of one prompt."""


class PromptBlock(Block):
    """A message of the user, marked by a bar in the accent colour."""

    def __init__(self, text: str) -> None:
        self.text = text.strip("\n")
        self.can_fold = (
            self.text.count("\n") >= _MAX_FOLDED_LINES or len(self.text) > _MAX_FOLDED_LINES * PROSE
        )

    def render(self, width: int, look: Appearance) -> Sequence[Strip]:
        bar: list[Span] = [(f"{look.signs.prompt} ", look.styles.accent)]
        source = self.text[: _MAX_CHARS if self.expanded else _MAX_FOLDED_LINES * PROSE * 2]
        lines: list[Strip] = []
        for text in clean(source).split("\n"):
            lines += wrap([(text, look.styles.strong)], min(width - EDGE, PROSE + 2), first=bar)
            if not self.expanded and len(lines) > _MAX_FOLDED_LINES:
                break
        if not self.expanded and (len(lines) > _MAX_FOLDED_LINES or len(source) < len(self.text)):
            note = trn(
                "{ellipsis} {n:,} line in all",
                "{ellipsis} {n:,} lines in all",
                self.text.count("\n") + 1,
                ellipsis=look.signs.ellipsis,
            )
            return [*lines[:_MAX_FOLDED_LINES], Line([*bar, (note, look.styles.dim)], gutter=2)]
        return lines

    def plain_text(self) -> str:
        return clean(self.text)

    def guess_height(self, width: int) -> int:
        if self.can_fold and not self.expanded:
            return _MAX_FOLDED_LINES + 1
        return self.text.count("\n") + 1 + len(self.text) // max(1, width)
