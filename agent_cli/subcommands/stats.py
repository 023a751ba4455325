"""`agent stats`: calls, tokens and cost by tool, model and day."""

import argparse
import os
from collections.abc import Iterable

from agent_cli.config.user_directories import Directories
from agent_cli.core.money.statistics import Statistics
from agent_cli.core.money.statistics_tables import TableRow, day_rows, model_rows, tool_rows
from agent_cli.lib.cells import pad, width_of
from agent_cli.lib.language import tr
from agent_cli.runtime import metrics_file
from agent_cli.safety.sanitise import visible
from agent_cli.safety.terminal import write_data, write_err, write_out
from agent_cli.storage.metrics import read_statistics
from agent_cli.subcommands._moment import moment

TABLES = {"tool": tool_rows, "model": model_rows, "day": day_rows}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of `agent stats`."""
    parser.add_argument("--by", choices=tuple(TABLES), help=tr("show only this table"))
    parser.add_argument("--since", metavar="WHEN", help=tr("only since then: 7d, 2w or 2026-01-31"))
    parser.add_argument("--json", action="store_true", help=tr("print one JSON object"))


def run(options: argparse.Namespace) -> int:
    """Show what was counted."""
    path = metrics_file(Directories.of(os.environ))
    since = moment(options.since).astimezone().date() if options.since else None
    statistics = read_statistics(path, since)
    if options.json:
        write_data(f"{statistics.model_dump_json()}\n")
    elif not statistics.days:
        write_err(tr("No statistics yet.") + "\n")
    else:
        write_out(_text(statistics, [options.by] if options.by else list(TABLES)))
    return 0


def _text(statistics: Statistics, wanted: Iterable[str]) -> str:
    parts = [_table(list(TABLES[name](statistics))) for name in wanted]
    if statistics.registry_size is not None:
        parts.append(tr("{n} tools available.", n=statistics.registry_size) + "\n")
    return "\n".join(parts)


def _table(rows: list[TableRow]) -> str:
    """Columns in line, numbers to the right."""
    clean = [[visible(cell, one_line=True) for cell in row] for row in rows]
    widths = [max(map(width_of, column)) for column in zip(*clean, strict=True)]
    lines = (
        "  ".join(
            pad(cell, width, right=number > 0)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in clean
    )
    return "".join(f"{line.rstrip()}\n" for line in lines)
