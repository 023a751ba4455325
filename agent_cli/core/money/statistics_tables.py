"""Statistics as rows that the user reads."""

from collections.abc import Iterator

from agent_cli.core.model import Usage
from agent_cli.core.money.pricing import price
from agent_cli.core.money.statistics import BOUNDS, Statistics
from agent_cli.lib.language import tr

TableRow = tuple[str, ...]


def tool_rows(statistics: Statistics) -> Iterator[TableRow]:
    """Each tool's calls; the first row names the columns."""
    counted = tr("calls"), tr("ok"), tr("failed"), tr("denied")
    yield tr("tool"), *counted, tr("median"), tr("p95")
    for each in statistics.tools:
        counts = (each.executions, each.successes, each.failures, each.denials)
        times = (_seconds(each.within(share)) for share in (0.5, 0.95))
        yield each.tool, *(f"{count:,}" for count in counts), *times


def model_rows(statistics: Statistics) -> Iterator[TableRow]:
    """Each model's requests."""
    yield tr("model"), tr("requests"), *_headings()
    for each in statistics.models:
        yield each.model, f"{each.requests:,}", *_usage_cells(each.usage)


def day_rows(statistics: Statistics) -> Iterator[TableRow]:
    """Each day."""
    yield tr("day"), tr("calls"), tr("requests"), *_headings()
    for each in statistics.days:
        yield each.day, f"{each.calls:,}", f"{each.requests:,}", *_usage_cells(each.usage)


def _headings() -> TableRow:
    return tr("input"), tr("from cache"), tr("output"), tr("cost")


def _usage_cells(usage: Usage) -> TableRow:
    counts = (usage.input_tokens, usage.cached_tokens, usage.output_tokens)
    return (*(f"{count:,}" for count in counts), price(usage))


def _seconds(bound: float | None) -> str:
    return tr("over {seconds:g} s", seconds=BOUNDS[-1]) if bound is None else f"{bound:g} s"
