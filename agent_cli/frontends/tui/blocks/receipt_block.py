"""What a turn left behind, in one line; unfolded, file by file."""

from collections.abc import Sequence

from textual.strip import Strip

from agent_cli.frontends.tui.appearance import Appearance
from agent_cli.frontends.tui.blocks.base_block import EDGE, MARGIN, Block
from agent_cli.frontends.tui.styled_lines import wrap
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import clean

MAX_LISTED = 200


class ReceiptBlock(Block):
    """Dim: it is there for whoever wants to know."""

    def __init__(self, line: str, details: Sequence[str]) -> None:
        self._line = clean(line).replace("\n", " ")
        self._details = [clean(each).replace("\n", " ") for each in details[:MAX_LISTED]]
        if len(details) > MAX_LISTED:
            self._details.append(tr("and {n:,} more", n=len(details) - MAX_LISTED))
        self.can_fold = bool(self._details)

    def render(self, width: int, look: Appearance) -> Sequence[Strip]:
        style, room = look.styles.dim, width - EDGE
        # Wrapped and not cut: what it cost stands at the end.
        lines: list[Strip] = list(wrap([(self._line, style)], room, first=MARGIN))
        bar = [*MARGIN, (f"{look.signs.bar} ", style)]
        for each in self._details if self.expanded else ():
            lines += wrap([(each, style)], room, first=bar)
        return lines

    def plain_text(self) -> str:
        return "\n".join([self._line, *self._details])

    def guess_height(self, width: int) -> int:
        lines = 1 + len(self._line) // max(1, width - EDGE)
        return lines + len(self._details) if self.expanded else lines
