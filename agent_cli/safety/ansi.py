"""Terminal output taken apart into plain text and colours, whatever else it contains."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

# A colour is a number of the 256-colour palette or a red-green-blue triple.
Colour = int | tuple[int, int, int]

_MAX_STRING_CHARS = 4096
_CSI = r"(?:\x1b\[|\x9b)"
_STRING = r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])"
# A string also ends where a line or another sequence begins: an open one must not hide the rest.
_STRING_BODY = rf"[^\x07\x18\x1a\x1b\n\x90\x98\x9b-\x9f]{{0,{_MAX_STRING_CHARS}}}+"

SEQUENCE = re.compile(
    rf"{_CSI}(?P<sgr>[0-9;:]{{0,128}}+)m"
    rf"|{_CSI}[0-?]{{0,256}}+[ -/]{{0,16}}+[@-~]?"
    rf"|{_STRING}(?:{_STRING_BODY}(?:\x07|\x1b\\|\x9c))?"
    r"|\x1b[ -/]{0,16}+[0-~]?"
    r"|[\x80-\x84\x86-\x9f]"  # the other C1 controls; 0x85 is a line break
)
UNFINISHED = re.compile(
    rf"(?:{_CSI}[0-?]{{0,256}}+[ -/]{{0,16}}+|{_STRING}{_STRING_BODY}\x1b?|\x1b[ -/]{{0,16}}+)\Z"
)
HAS_SEQUENCE = re.compile(r"[\x1b\x80-\x84\x86-\x9f]")


@dataclass(frozen=True)
class Style:
    """How a piece of text looks. Hidden and blinking text do not exist here."""

    fg: Colour | None = None
    bg: Colour | None = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    reverse: bool = False
    strike: bool = False


PLAIN = Style()

_FLAGS: dict[int, dict[str, bool]] = {
    1: {"bold": True},
    2: {"dim": True},
    3: {"italic": True},
    4: {"underline": True},
    7: {"reverse": True},
    9: {"strike": True},
    21: {"underline": True},
    22: {"bold": False, "dim": False},
    23: {"italic": False},
    24: {"underline": False},
    27: {"reverse": False},
    29: {"strike": False},
}


def split(text: str) -> Iterator[tuple[str, str | None]]:
    """Pieces of text, each with the colour parameters that follow it, if any do."""
    done = 0
    for found in SEQUENCE.finditer(text):
        if found.start() > done or found["sgr"] is not None:
            yield text[done : found.start()], found["sgr"]
        done = found.end()
    if done < len(text):
        yield text[done:], None


@lru_cache(maxsize=1024)
def restyle(style: Style, parameters: str) -> Style:
    """The style after a colour sequence; parameters that mean nothing are skipped."""
    codes = _codes(parameters)
    for code in codes:
        if code == 0:
            style = PLAIN
        elif code in _FLAGS:
            style = replace(style, **_FLAGS[code])
        elif code in (38, 48):
            colour = _read_extended(codes)
            style = replace(style, fg=colour) if code == 38 else replace(style, bg=colour)
        else:
            style = _basic_colour(style, code)
    return style


@lru_cache(maxsize=1024)
def readable(style: Style) -> Style:
    """The style without its colours if they would hide the text."""
    if style.fg is None or style.bg is None:
        return style
    pairs = zip(_rgb(style.fg), _rgb(style.bg), strict=True)
    if sum(abs(a - b) for a, b in pairs) >= 96:
        return style
    return replace(style, fg=None, bg=None)


def _codes(parameters: str) -> Iterator[int]:
    for part in parameters.split(";")[:32]:
        head, *rest = part.split(":")
        if rest and head in {"38", "48"}:
            # The colon form may carry a colour space before red, green and blue.
            rest = [rest[0], *rest[-3:]] if rest[0] == "2" else rest[:2]
            yield from (_number(item) for item in (head, *rest))
        elif rest and head == "4" and rest[0] == "0":
            yield 24
        else:
            yield _number(head)


def _number(text: str) -> int:
    return min(int(text[:5] or "0"), 99_999)


def _read_extended(codes: Iterator[int]) -> Colour | None:
    kind = next(codes, None)
    if kind == 5:
        return _byte(next(codes, None))
    if kind == 2:
        red, green, blue = (_byte(next(codes, None)) for _ in range(3))
        if red is not None and green is not None and blue is not None:
            return red, green, blue
    return None


def _byte(code: int | None) -> int | None:
    return code if code is not None and code <= 255 else None


def _basic_colour(style: Style, code: int) -> Style:
    match code:
        case 39:
            return replace(style, fg=None)
        case 49:
            return replace(style, bg=None)
        case _ if 30 <= code <= 37:
            return replace(style, fg=code - 30)
        case _ if 40 <= code <= 47:
            return replace(style, bg=code - 40)
        case _ if 90 <= code <= 97:
            return replace(style, fg=code - 82)
        case _ if 100 <= code <= 107:
            return replace(style, bg=code - 92)
    return style


def _rgb(colour: Colour) -> tuple[int, int, int]:
    """Roughly what a terminal shows; enough to tell whether two colours differ."""
    if isinstance(colour, tuple):
        return colour
    if colour >= 232:
        grey = 8 + 10 * (colour - 232)
        return grey, grey, grey
    if colour >= 16:
        steps = (0, 95, 135, 175, 215, 255)
        cube = colour - 16
        return steps[cube // 36], steps[cube // 6 % 6], steps[cube % 6]
    if colour in (7, 8):
        return (192, 192, 192) if colour == 7 else (128, 128, 128)
    level = 255 if colour > 8 else 128
    return level * (colour & 1), level * (colour >> 1 & 1), level * (colour >> 2 & 1)
