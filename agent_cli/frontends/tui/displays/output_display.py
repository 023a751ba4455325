"""Text a tool shows: what a command printed, or a part of a file."""

from collections.abc import Sequence

from textual.strip import Strip

from agent_cli.core.display import TextBlock
from agent_cli.frontends.tui.appearance import Appearance, foreign
from agent_cli.frontends.tui.highlight import highlight
from agent_cli.frontends.tui.styled_lines import Line, Span, crop, part, plain, split_lines, wrap
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import clean, parse_styles

MAX_LINES = 500
"""Lines of one text on the screen."""
MAX_LINE_CHARS = 4_000
"""Of one line on the screen: the rest of a longer one says little, and would be many rows."""
_TAIL_SOURCE = 4_000


def output_lines(output: str, width: int, look: Appearance) -> Sequence[Strip]:
    """What a command printed, in the colours it asked for."""
    texts = split_lines([foreign(span, look) for span in parse_styles(output.rstrip("\n"))])
    return [line for spans in _select(texts, look) for line in wrap(_bound(spans, look), width)]


def tail_lines(output: str, width: int, look: Appearance, most: int) -> list[Strip]:
    """The last few lines, one row each: a preview must not jump."""
    source = output.rstrip("\n")[-_TAIL_SOURCE:]
    texts = split_lines([foreign(span, look) for span in parse_styles(source)])
    while texts and not texts[-1]:
        texts.pop()
    return [Line(crop(spans, width, look.signs.ellipsis)) for spans in texts[-most:]]


def source_lines(block: TextBlock, width: int, look: Appearance) -> Sequence[Strip]:
    """Source text in colours, numbered when it is a part of a file."""
    texts = highlight(clean(block.text).rstrip("\n"), block.language, look)
    if block.first_line is None:
        texts = _select(texts, look)
        return [line for spans in texts for line in wrap(_bound(spans, look), width)]
    lines: list[Strip] = []
    room = len(str(block.first_line + len(texts)))
    blank: list[Span] = [(" " * (room + 2), None)]
    for number, spans in enumerate(texts[:MAX_LINES], block.first_line):
        before: list[Span] = [(f"{number:>{room}}  ", look.styles.dim)]
        lines += wrap(_bound(spans, look), width, first=before, rest=blank)
    if len(texts) > MAX_LINES:
        lines.append(omission_line(len(texts) - MAX_LINES, look))
    return lines


def omission_line(count: int, look: Appearance) -> Line:
    """The note that stands for lines that are not shown."""
    note = tr("{ellipsis} {n:,} more lines", ellipsis=look.signs.ellipsis, n=count)
    return Line([(note, look.styles.dim)])


def _select(texts: list[list[Span]], look: Appearance) -> list[list[Span]]:
    """All lines, or the beginning and the end of too many."""
    if len(texts) <= MAX_LINES:
        return texts
    head, tail = MAX_LINES // 5, MAX_LINES - MAX_LINES // 5
    left_out = len(texts) - MAX_LINES
    note = tr("{ellipsis} {n:,} lines are not shown", ellipsis=look.signs.ellipsis, n=left_out)
    return [*texts[:head], [(note, look.styles.dim)], *texts[-tail:]]


def _bound(spans: list[Span], look: Appearance) -> list[Span]:
    """The line, or the beginning of one that is too long and how much is left out."""
    left_out = len(plain(spans)) - MAX_LINE_CHARS
    if left_out <= 0:
        return spans
    note = tr("… {left_out:,} characters are not shown", left_out=left_out)
    return [*part(spans, 0, MAX_LINE_CHARS), (f" {note}", look.styles.dim)]
