"""Characters that are not what they seem on a screen, as sets for regular expressions."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache

TAGS = "\U000e0000-\U000e007f"
BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
ZERO_WIDTH = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f"
    "\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
)
SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
SURROGATES = "\ud800-\udfff"
NONCHARACTERS = "\ufdd0-\ufdef\ufffe\uffff"
LINE_BREAKS = "\x0b\x0c\x85\u2028\u2029"
SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
PRIVATE = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"
CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f"

NOT_PLAIN_ASCII = re.compile(r"[^\n -~]")
"""The quick question that nearly all text answers with no."""

MAX_MARKS = 4
"""More accents than this on one letter spill over the lines around it; no language needs them."""


@cache
def mark_floods() -> re.Pattern[str]:
    """Runs of combining marks that are longer than any writing needs."""
    # Within the first plane a class is a table; beyond it every range would be tried in turn.
    marks = "".join(_ranges(c for c in range(0x300, 0x10000) if _is_mark(c)))
    # One plain class in front lets the search skip everything else quickly.
    return re.compile(f"[{marks}][{marks}]{{{MAX_MARKS},}}+")


def is_mark(character: str) -> bool:
    return character >= "\u0300" and _is_mark(ord(character))


def cells(text: str) -> int:
    """How many columns of a terminal the text takes."""
    if text.isascii():
        return len(text)
    return sum(_cells(c) for c in text)


def _cells(character: str) -> int:
    if character < "\u0300":
        return 1
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def _is_mark(code: int) -> bool:
    return unicodedata.category(chr(code)) in {"Mn", "Me"}


def _ranges(codes: Iterable[int]) -> Iterator[str]:
    """Neighbouring codes joined to ranges of a character class."""
    first = last = -1
    for code in codes:
        if code != last + 1:
            if first >= 0:
                yield f"{chr(first)}-{chr(last)}"
            first = code
        last = code
    yield f"{chr(first)}-{chr(last)}"
