"""How much room text takes in a terminal, where a Chinese character is two cells wide."""

import re
import textwrap
import unicodedata

_PIECES = re.compile(r"\s+|[^\s\u2e80-\uffef“”]+|.", re.DOTALL)
"""Gaps, words, and signs between which a line may break."""
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
        return textwrap.wrap(text, width)
    lines, line = [], ""
    for piece in _unbreakable(" ".join(text.split())):
        if line and width_of(line + piece.rstrip()) > width:
            lines.append(line.rstrip())
            line = piece.lstrip()
        else:
            line += piece
    return [*lines, line.rstrip()] if line.strip() else lines


def _unbreakable(text: str) -> list[str]:
    pieces: list[str] = []
    for piece in _PIECES.findall(text):
        if pieces and (piece in _NOT_FIRST or pieces[-1][-1] in _NOT_LAST):
            pieces[-1] += piece
        else:
            pieces.append(piece)
    return pieces


def _cells(sign: str) -> int:
    if unicodedata.combining(sign) or unicodedata.category(sign) in ("Cf", "Me", "Mn"):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1
