"""A session as Markdown."""

import re

from agent_cli.core.log.history import History
from agent_cli.export.pieces import CallPiece, TextPiece, details, facts, name_of, pieces
from agent_cli.lib.language import mark, tr

_HEADINGS = {"person": mark("You"), "model": mark("Agent")}


def as_markdown(history: History) -> str:
    """The whole document."""
    parts = [f"# {_inline(name_of(history))}", _inline(" · ".join(facts(history)))]
    speaker = ""
    for piece in pieces(history.events):
        by = piece.by if isinstance(piece, TextPiece) else "model"
        if by in _HEADINGS and by != speaker:
            parts.append(f"## {tr(_HEADINGS[by])}")
            speaker = by
        parts.append(_words(piece) if isinstance(piece, TextPiece) else _call(piece))
    return "\n\n".join(part for part in parts if part) + "\n"


def _words(piece: TextPiece) -> str:
    text = piece.text.strip("\n")
    if piece.by == "program":
        return f"> {_inline(text)}"
    if piece.by == "thinking":
        return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
    return text


def _call(piece: CallPiece) -> str:
    outcome = f" — {_inline(piece.outcome)}" if piece.outcome else ""
    parts = [f"**{_inline(piece.heading)}**{outcome}"]
    for text, language in details(piece.result) if piece.result else ():
        fence = _fence(text)
        parts.append(f"{fence}{language}\n{text.rstrip()}\n{fence}")
    return "\n\n".join(parts)


def _fence(text: str) -> str:
    """Longer than any row of backticks in the text."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    return "`" * max(3, longest + 1)


def _inline(text: str) -> str:
    """A line in which nothing is taken for markup."""
    return re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", " ".join(text.split()))
