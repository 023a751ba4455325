"""A conversation that was shortened: one line, and on demand what was kept and what was not."""

from collections.abc import Sequence

from textual.strip import Strip

from agent_cli.controller.endings import compaction_text
from agent_cli.core.events import HistoryCompacted
from agent_cli.frontends.tui.appearance import PROSE, Appearance
from agent_cli.frontends.tui.blocks.base_block import EDGE, MARGIN, Block
from agent_cli.frontends.tui.styled_lines import Line, Span, crop, wrap
from agent_cli.safety.sanitise import clean


class CompactionBlock(Block):
    """Folded to its heading."""

    can_fold = True

    def __init__(self, event: HistoryCompacted) -> None:
        self._heading = clean(compaction_text(event).replace("\n", " "))
        self._text = clean(event.ledger.text()).strip("\n")

    def render(self, width: int, look: Appearance) -> Sequence[Strip]:
        dim = look.styles.dim
        room = min(width - EDGE, PROSE + 2)
        heading: list[Span] = [*MARGIN, (f"{look.signs.dot} ", dim), (self._heading, dim)]
        if not self.expanded:
            return [Line(crop(heading, room, look.signs.ellipsis), gutter=2)]
        bar: list[Span] = [*MARGIN, (f"{look.signs.bar} ", dim)]
        lines = wrap([(self._heading, dim)], room, first=heading[:-1])
        for part in self._text.split("\n"):
            lines += wrap([(part, dim)], room, first=bar)
        return lines

    def plain_text(self) -> str:
        return f"{self._heading}\n{self._text}"

    def guess_height(self, width: int) -> int:
        return super().guess_height(width) if self.expanded else 1
