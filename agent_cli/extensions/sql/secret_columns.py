"""Cells of a table that hold secrets, told by the names of their columns."""

import re
from collections.abc import Iterator, Sequence

from agent_cli.safety.redact import MARK

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SECRET = re.compile(
    r"passw(?:or)?d|passphrase|passcode|(?:^|_)(?:pwd|pw|pass)(?:$|_)|secret|token|credential|bearer"
    r"|(?:api|access|private|auth|encryption|signing|master|session|ssh|license|service)_?key"
    r"|(?:^|_)(?:jwt|otp|totp|pin|cvv|cvc|salt|cookie|mnemonic|seed_phrase)(?:$|_)",
    re.IGNORECASE,
)
_INNOCENT = re.compile(
    r"(?:_at|_on|_count|_id|_type|_name|_expiry|_expires|_length|_hint|_required|tokens)$"
    r"|^(?:max|num|count|n|has|is)_",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NAMES = re.compile(r"key|name|setting|option|variable|var|param|property|attribute", re.IGNORECASE)
_VALUES = re.compile(r"value|val|content|data|string_value", re.IGNORECASE)
_HARMLESS = re.compile(r"(?:NULL|true|false|\d{1,5})?", re.IGNORECASE)
_ALIAS = re.compile(r"[\"`\[]?(\w+)[\"`\]]?\s*\Z")


def hide_secrets(columns: Sequence[str], row: tuple[str, ...], query: str = "") -> tuple[str, ...]:
    """The row with a mark in place of each secret."""
    renamed = _renamed(query)
    hidden = {i for i, name in enumerate(columns) if is_secret_column(name) or name in renamed}
    names = [i for i, name in enumerate(columns) if _NAMES.fullmatch(name)]
    if any(i < len(row) and is_secret_column(row[i]) for i in names):
        hidden |= {i for i, name in enumerate(columns) if _VALUES.fullmatch(name)}
    if not hidden:
        return row
    return tuple(
        MARK if i in hidden and not _HARMLESS.fullmatch(cell) else cell
        for i, cell in enumerate(row)
    )


def is_secret_column(name: str) -> bool:
    """Whether a column of this name, or an expression over one, holds secrets."""
    words = (_CAMEL.sub("_", word) for word in _WORD.findall(name[:1_000]))
    return any(_SECRET.search(word) and not _INNOCENT.search(word) for word in words)


def _renamed(query: str) -> frozenset[str]:
    """The new names that a query gives to secrets: `SELECT password AS p`."""
    chosen = re.search(r"select\b(.*?)(?:\bfrom\b|\Z)", query[:20_000], re.IGNORECASE | re.DOTALL)
    names = set()
    for part in _split(chosen[1]) if chosen else ():
        last = _ALIAS.search(part[-200:].rstrip())
        if last and is_secret_column(part.rstrip()[: -len(last.group())]):
            names.add(last[1])
    return frozenset(names)


def _split(chosen: str) -> Iterator[str]:
    """The expressions between commas that are not inside of parentheses."""
    depth = start = 0
    for at, character in enumerate(chosen):
        depth += (character == "(") - (character == ")")
        if character == "," and depth <= 0:
            yield chosen[start:at]
            start = at + 1
    yield chosen[start:]
