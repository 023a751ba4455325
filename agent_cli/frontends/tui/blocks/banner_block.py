"""The first thing on the screen."""

from collections.abc import Sequence

from textual.strip import Strip

from agent_cli.frontends.tui.appearance import ROW, Appearance
from agent_cli.frontends.tui.blocks.base_block import EDGE, MARGIN, Block
from agent_cli.frontends.tui.styled_lines import BLANK, Line, Span, crop, shorten, width_of, wrap
from agent_cli.lib.language import mark, tr
from agent_cli.safety.sanitise import clean

TIPS = (
    ("", mark("explain this repository")),
    ("/help", mark("commands")),
    ("@", mark("mention a file")),
    ("!", mark("run a command")),
)
GUIDE_TIPS = (("", mark("tour")), *TIPS[1:])
"""For the offline guide, which can't explain anything."""


class BannerBlock(Block):
    """Where we are, with what, and what to try."""

    def __init__(
        self,
        *,
        place: str = "",
        branch: str = "",
        facts: Sequence[str] = (),
        tips: Sequence[tuple[str, str]] = TIPS,
        name: str = "agent",
    ) -> None:
        self.name, self.place, self.branch = map(_one_line, (name, place, branch))
        self.facts = tuple(_one_line(fact) for fact in facts)
        self.tips = tuple((_one_line(key), _one_line(tr(does))) for key, does in tips)

    def render(self, width: int, look: Appearance) -> Sequence[Strip]:
        width = min(width, ROW)
        lines: list[Strip] = [self._top(width, look), BLANK]
        if self.facts:
            facts = tr("Ready. {facts}", facts=f" {look.signs.dot} ".join(self.facts))
            lines += wrap([(facts, None)], width - EDGE, first=MARGIN)
        if self.tips:
            lines.append(self._try(width, look))
        return lines

    def plain_text(self) -> str:
        where = "  ".join(part for part in (self.name, self.place, self.branch) if part)
        ready = tr("Ready. {facts}", facts=", ".join(self.facts))
        return f"{where}\n{ready}"

    def _top(self, width: int, look: Appearance) -> Line:
        styles = look.styles
        left: list[Span] = [*MARGIN, (self.name, styles.accent + styles.strong)]
        room = width - EDGE - width_of(left) - 2
        branch = shorten(self.branch, room // 2, look.signs.ellipsis)
        tail: list[Span] = [(f"  {branch}", styles.accent)] if branch else []
        place = shorten(self.place, max(0, room - width_of(tail)), look.signs.ellipsis)
        right: list[Span] = [(place, styles.dim), *tail]
        gap = " " * max(2, width - EDGE - width_of(left) - width_of(right))
        return Line(crop([*left, (gap, None), *right], width), gutter=2)

    def _try(self, width: int, look: Appearance) -> Line:
        """As many tips as fit: half a tip helps nobody."""
        spans: list[Span] = [*MARGIN, (tr("Try") + "   ", look.styles.dim)]
        for number, (key, does) in enumerate(self.tips):
            tip: list[Span] = [("     " if number else "", None)]
            tip += [(f"{key} ", look.styles.accent)] if key else []
            tip.append((does, look.styles.dim if key else None))
            if width_of(spans) + width_of(tip) > width - EDGE:
                break
            spans += tip
        return Line(spans, gutter=2)


def _one_line(text: str) -> str:
    return clean(text).replace("\n", " ")
