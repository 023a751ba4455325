"""How much room text takes in a terminal, where a Chinese character is two cells wide."""

_NOT_FIRST = "，。：；、？！）】」』》”…"
_NOT_LAST = "（【「『《“"


def width_of(text: str) -> int:
    """The cells of a line."""
    if text.isascii():
        return len(text)
    from wcwidth import width  # noqa: PLC0415 (English has no need of its tables)

    return width(text)


def pad(text: str, width: int, *, right: bool = False) -> str:
    """The text with spaces up to a width: after it, or before it to align right."""
    space = " " * (width - width_of(text))
    return space + text if right else text + space


def wrap(text: str, width: int) -> list[str]:
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
    return not (sign == " " or before == " " or _is_a_word(sign) or _is_a_word(before))


def _is_a_word(sign: str) -> bool:
    return "\u2e80" <= sign <= "\uffef" or sign in "“”"
