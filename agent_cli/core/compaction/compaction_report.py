"""What a compaction does with each part of a conversation, in words for the user."""

from collections.abc import Iterable, Iterator
from typing import Literal

from pydantic import BaseModel

from agent_cli.lib.language import mark, tr, trn
from agent_cli.lib.text import join_items

Fate = Literal["kept", "thinned", "summarised", "dropped"]
FATES: dict[Fate, str] = {
    "kept": mark("Kept"),
    "thinned": mark("Thinned"),
    "summarised": mark("Summarised"),
    "dropped": mark("Dropped"),
}
"""Each with the words above what shares it."""


class CompactionLine(BaseModel, frozen=True):
    """What became of one thing."""

    what: str
    fate: Fate
    tokens: int = 0
    """About how many it had."""
    at: str = ""
    """The address of the message in the session's log, if it is one."""


class CompactionReport(BaseModel, frozen=True):
    """A compaction as the user is shown it."""

    lines: tuple[CompactionLine, ...] = ()
    tokens_before: int = 0
    tokens_after: int = 0
    summary: str = ""
    """What replaces what was summarised; the words of a model."""
    writer: str = ""
    """The model that wrote it."""

    @property
    def heading(self) -> str:
        """The whole in one line."""
        return tr(
            "about {before:,} → {after:,} tokens",
            before=self.tokens_before,
            after=self.tokens_after,
        )

    def short(self) -> str:
        """What became of what, a line for each fate."""
        lines = []
        for fate, words in FATES.items():
            if things := [line.what for line in self.lines if line.fate == fate]:
                lines.append(f"{tr(words)}: {join_items(things)}.")
        return "\n".join(lines)

    def text(self) -> str:
        """All of it, as plain text."""
        parts = [self.heading]
        for fate, words in FATES.items():
            if rows := list(_rows(line for line in self.lines if line.fate == fate)):
                parts.append("\n".join([f"{tr(words)}:", *rows]))
        if self.summary:
            heading = tr("Summary by {model}:", model=self.writer)
            parts.append(f"{heading}\n{self.summary}")
        return "\n\n".join(parts)


def _rows(lines: Iterable[CompactionLine]) -> Iterator[str]:
    for line in lines:
        if line.tokens:
            yield trn(
                "  {what}  (about {n:,} token)",
                "  {what}  (about {n:,} tokens)",
                line.tokens,
                what=line.what,
            )
        else:
            yield f"  {line.what}"
