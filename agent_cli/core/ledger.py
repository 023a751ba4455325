"""What a compaction does with each part of a conversation, in words for the person."""

from collections.abc import Iterable, Iterator
from typing import Literal

from pydantic import BaseModel, ConfigDict

from agent_cli.lib.text import plural

Fate = Literal["kept", "thinned", "summarised", "dropped"]
FATES: tuple[Fate, ...] = ("kept", "thinned", "summarised", "dropped")


class LedgerLine(BaseModel):
    """What became of one thing."""

    model_config = ConfigDict(frozen=True)

    what: str
    fate: Fate
    tokens: int = 0
    """About how many it had."""
    at: str = ""
    """The address of the message in the session's log, if it is one."""


class Ledger(BaseModel):
    """A compaction as a person is shown it."""

    model_config = ConfigDict(frozen=True)

    lines: tuple[LedgerLine, ...] = ()
    tokens_before: int = 0
    tokens_after: int = 0
    summary: str = ""
    """What stands in the place of what was summarised; the words of a model."""
    writer: str = ""
    """The model that wrote it."""

    @property
    def heading(self) -> str:
        """The whole in one line."""
        return f"about {self.tokens_before:,} → {self.tokens_after:,} tokens"

    def short(self) -> str:
        """What became of what, a line for each fate."""
        lines = []
        for fate in FATES:
            if things := [line.what for line in self.lines if line.fate == fate]:
                lines.append(f"{fate.capitalize()}: {'; '.join(things)}.")
        return "\n".join(lines)

    def text(self) -> str:
        """All of it, as plain text."""
        parts = [self.heading]
        for fate in FATES:
            if listed := list(_listed(line for line in self.lines if line.fate == fate)):
                parts.append("\n".join([f"{fate.capitalize()}:", *listed]))
        if self.summary:
            parts.append(f"Summary by {self.writer}:\n{self.summary}")
        return "\n\n".join(parts)


def _listed(lines: Iterable[LedgerLine]) -> Iterator[str]:
    for line in lines:
        yield f"  {line.what}" + (
            f"  (about {plural(line.tokens, 'token')})" if line.tokens else ""
        )
