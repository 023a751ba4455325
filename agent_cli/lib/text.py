"""Small things done to text."""

from collections.abc import Iterable
from functools import reduce

from agent_cli.lib.language import tr


def head_and_tail(text: str, limit: int, mark: str) -> str:
    """The text cut in the middle to about `limit` characters, at line ends where they are near.

    `mark` fills the gap; `{left_out}` in it is the number of characters that are missing.
    """
    if len(text) <= limit:
        return text
    head, tail = _head(text, limit * 2 // 3), _tail(text, limit // 3)
    left_out = len(text) - len(head) - len(tail)
    return f"{head.rstrip()}\n{mark.format(left_out=left_out)}\n{tail.lstrip()}"


def _head(text: str, size: int) -> str:
    end = text.rfind("\n", size - size // 10, size)
    return text[: end if end > 0 else size]


def _tail(text: str, size: int) -> str:
    start = len(text) - size
    newline = text.find("\n", start, start + size // 10)
    return text[newline + 1 if newline > 0 else start :]


def plural(count: int, one: str, many: str | None = None) -> str:
    """ "1 line", "2,000 lines": English, for a model; for the user there is `trn`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def join_items(texts: Iterable[str]) -> str:
    """ "one; another; a third"."""
    return "; ".join(texts)


def either(texts: Iterable[str]) -> str:
    """ "one or another"."""
    return reduce(lambda some, more: tr("{some} or {more}", some=some, more=more), texts)


def size(count: int) -> str:
    """ "512 B", "1.4 kB", "14 MB": the same in every language."""
    if count < 1000:
        return f"{count} B"
    units = ["kB", "MB", "GB", "TB"]
    amount = count / 1000
    while amount >= 999.5 and len(units) > 1:
        amount /= 1000
        units.pop(0)
    unit = units[0]
    return f"{amount:.1f} {unit}" if amount < 9.95 else f"{amount:,.0f} {unit}"
