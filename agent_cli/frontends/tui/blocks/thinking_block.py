"""What the model thinks before it speaks."""

import time
from collections.abc import Callable, Sequence

from textual.strip import Strip

from agent_cli.controller.wording import duration
from agent_cli.frontends.tui.appearance import PROSE, Appearance
from agent_cli.frontends.tui.blocks.base_block import EDGE, MARGIN, Block
from agent_cli.frontends.tui.styled_lines import Line, Span, crop, wrap
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import Cleaner


class ThinkingBlock(Block):
    """Dim, and folded: to its last line while it arrives, to how long it took afterwards."""

    can_fold = True

    def __init__(self, *, timed: bool = True, clock: Callable[[], float] = time.monotonic) -> None:
        self._timed = timed
        self._clock = clock
        self._started = clock()
        self._seconds: float | None = None
        self._cleaner = Cleaner()
        self._pieces: list[str] = []
        self._text = ""

    def append(self, text: str) -> None:
        self._pieces.append(self._cleaner.feed(text))

    def finish(self) -> None:
        """Nothing more comes."""
        if self._seconds is None:
            self._pieces.append(self._cleaner.finish())
            self._seconds = self._clock() - self._started

    def render(self, width: int, look: Appearance) -> Sequence[Strip]:
        style = look.styles.thinking
        text = self.plain_text()
        if self._seconds is None:
            heading = tr("thinking{ellipsis} ", ellipsis=look.signs.ellipsis)
        elif not self._timed:
            heading = tr("thought")
        else:
            time = duration(max(1, self._seconds), tenths=False)
            heading = tr("thought for {time}", time=time)
        room = min(width - EDGE, PROSE + 2)
        if not self.expanded:
            last = text.rpartition("\n")[2][-2 * PROSE :] if self._seconds is None else ""
            spans: list[Span] = [(heading, style), (last, style)]
            return [Line(crop([*MARGIN, *spans], room, look.signs.ellipsis), gutter=2)]
        lines: list[Strip] = [Line([*MARGIN, (heading, style)], gutter=2)]
        bar: list[Span] = [*MARGIN, (f"{look.signs.bar} ", look.styles.dim)]
        for part in text.split("\n"):
            lines += wrap([(part, style)], room, first=bar)
        return lines

    def plain_text(self) -> str:
        if self._pieces:
            self._text += "".join(self._pieces)
            self._pieces = []
        return self._text.strip("\n")

    def guess_height(self, width: int) -> int:
        return 1 + len(self._text) // max(1, width) if self.expanded else 1
