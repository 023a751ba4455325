"""How much room text takes in a terminal, where a Chinese character is two cells wide."""

import unicodedata
from functools import cache

_NOT_FIRST = "，。：；、？！）】」』》”…"
_NOT_LAST = "（【「『《“"


def width_of(text: str) -> int:
    """The cells of a line."""
    if text.isascii():
        return len(text)
    return sum(map(_cells, text))


def padded(text: str, width: int, *, right: bool = False) -> str:
    """The text with spaces up to a width: behind it, or before it where it stands to the right."""
    space = " " * (width - width_of(text))
    return space + text if right else text + space


def wrapped(text: str, width: int) -> list[str]:
    """The lines of a paragraph; punctuation stays with its word."""
    if text.isascii():
        import textwrap  # noqa: PLC0415 (--help has no time for it)

        return textwrap.wrap(text, width)
    lines, line, taken = [], "", 0
    for piece in _unbreakable(" ".join(text.split())):
        if line and taken + width_of(piece.rstrip()) > width:
            lines.append(line.rstrip())
            line, taken = "", 0
            piece = piece.lstrip()
        line += piece
        taken += width_of(piece)
    return [*lines, line.rstrip()] if line.strip() else lines


def _unbreakable(text: str) -> list[str]:
    """Gaps, words, and signs between which a line may break."""
    pieces: list[str] = []
    for sign in text:
        if pieces and _belongs(sign, pieces[-1][-1]):
            pieces[-1] += sign
        else:
            pieces.append(sign)
    return pieces


def _belongs(sign: str, before: str) -> bool:
    """Whether no line may end between two signs."""
    if sign in _NOT_FIRST or before in _NOT_LAST:
        return True
    return not (sign == " " or before == " " or _stands_alone(sign) or _stands_alone(before))


def _stands_alone(sign: str) -> bool:
    return "\u2e80" <= sign <= "\uffef" or sign in "“”"


@cache
def _cells(sign: str) -> int:
    if unicodedata.combining(sign) or unicodedata.category(sign) in ("Cf", "Me", "Mn"):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1
