"""What a query gives: rows under headings, as text for the model and as a table for the user."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from agent_cli.core.display import TableBlock
from agent_cli.extensions.sql.secret_columns import hide_secrets
from agent_cli.lib.language import tr, trn
from agent_cli.lib.text import plural, size

MAX_CELL_CHARS = 1_000


@dataclass(frozen=True)
class Rows:
    """The result of one statement."""

    columns: tuple[str, ...] = ()
    """Empty: the statement gives no rows."""
    rows: tuple[tuple[str, ...], ...] = ()
    has_more: bool = False
    changed: int | None = None
    """How many rows a writing statement changed, where the database says so."""

    @classmethod
    def of(
        cls, columns: Iterable[Any], rows: Sequence[Iterable[Any]], most: int, query: str = ""
    ) -> "Rows":
        """Whatever a driver gave; a row more than `most` shows that there is more.

        Cells under a heading that names a secret are hidden, also if `query` gave it another name.
        """
        named = tuple(map(str, columns))
        cells = (tuple(map(_cell, row)) for row in rows[:most])
        return cls(
            columns=named,
            rows=tuple(hide_secrets(named, row, query) for row in cells),
            has_more=len(rows) > most,
        )

    @property
    def summary(self) -> str:
        """One line with figures, for the user."""
        if not self.columns:
            if self.changed is None:
                return tr("done")
            return trn("{n:,} row changed", "{n:,} rows changed", self.changed)
        if self.has_more:
            return trn(
                "{n:,} row, and there are more", "{n:,} rows, and there are more", len(self.rows)
            )
        return trn("{n:,} row", "{n:,} rows", len(self.rows))

    @property
    def total(self) -> str:
        """The same for the model."""
        if not self.columns:
            return "done" if self.changed is None else f"{plural(self.changed, 'row')} changed"
        return plural(len(self.rows), "row") + (", and there are more" if self.has_more else "")

    @property
    def text(self) -> str:
        """As the model reads it: one line per row, cells between bars."""
        if not self.columns:
            return f"({self.total})"
        lines = [" | ".join(map(_in_line, row)) for row in (self.columns, *self.rows)]
        lines.append(f"({self.total})")
        if self.has_more:
            lines.append("(Use LIMIT and OFFSET, or a narrower condition, to see others.)")
        return "\n".join(lines)

    @property
    def block(self) -> TableBlock | None:
        """As the user sees it."""
        return TableBlock(columns=self.columns, rows=self.rows) if self.columns else None


def _cell(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bytes | bytearray | memoryview):
        return f"({size(len(value))}, not text)"
    text = str(value)
    if len(text) <= MAX_CELL_CHARS:
        return text
    return f"{text[:MAX_CELL_CHARS]}… ({len(text):,} characters)"


def _in_line(cell: str) -> str:
    cell = cell.replace("\\", "\\\\").replace("\r", "\\r")
    return cell.replace("\n", "\\n").replace("|", "\\|")
