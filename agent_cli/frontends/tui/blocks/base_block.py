"""What every block of the transcript is."""

from collections.abc import Sequence

from textual.strip import Strip

from agent_cli.frontends.tui.appearance import Appearance
from agent_cli.frontends.tui.styled_lines import Span

MARGIN: list[Span] = [("  ", None)]
"""The text of a block stands this far from the left edge; bars and cursors use the space."""
EDGE = 1
"""Cells left free at the right edge."""


class Block:
    """A piece of the chat: a source, and lines made from it for a width.

    Blocks keep little besides their source: the transcript caches their lines.
    """

    expanded = False
    can_fold = False
    """Whether it has more to show than it shows, or could show less."""
    is_running = False
    """Whether it is not over yet."""

    @property
    def ticks(self) -> bool:
        """Whether its lines change with time."""
        return False

    def render(self, width: int, look: Appearance) -> Sequence[Strip]:
        """The lines; those that have not changed may be the very same objects as before."""
        raise NotImplementedError

    def plain_text(self) -> str:
        """The text as one would paste it somewhere."""
        raise NotImplementedError

    def guess_height(self, width: int) -> int:
        """About how many lines it will have; used until they are counted."""
        return 1 + len(self.plain_text()) // max(1, width)

    def toggle(self) -> None:
        """Show more, or less again."""
        self.expanded = not self.expanded

    def stands_with(self, before: "Block") -> bool:
        """Whether no blank line parts it from the block before."""
        return False
