"""The row of a report, and the table rows make."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One measured value beside what it may be; without a budget it is for information."""

    name: str
    value: float
    unit: str
    budget: float | None = None
    ok: bool = True


def at_most(name: str, value: float, unit: str, budget: float) -> Row:
    """A value that must not be above its budget."""
    return Row(name, value, unit, budget, value <= budget)


def for_information(name: str, value: float, unit: str) -> Row:
    """A value without a promise."""
    return Row(name, value, unit)


def table(rows: Sequence[Row]) -> str:
    """The rows, aligned."""
    cells = [("", "measured", "budget", "")]
    cells += [
        (
            row.name,
            f"{_figure(row.value)} {row.unit}",
            "" if row.budget is None else f"{_figure(row.budget)} {row.unit}",
            "" if row.budget is None else "ok" if row.ok else "OVER",
        )
        for row in rows
    ]
    first, *others = (max(len(line[column]) for line in cells) for column in range(4))
    return "\n".join(
        "  ".join(
            [line[0].ljust(first), *(c.rjust(w) for c, w in zip(line[1:], others, strict=True))]
        ).rstrip()
        for line in cells
    )


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 or value == int(value) else f"{value:.3g}"
