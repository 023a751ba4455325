"""Shows what was counted today, over all sessions."""

from collections.abc import Iterable

from agent_cli.commands._command import Command, Desk
from agent_cli.core.money.tables import Row, day_rows, model_rows, tool_rows
from agent_cli.lib.language import mark, tr


def run(desk: Desk, argument: str) -> None:
    """Calls by tool, and tokens and dollars by model."""
    statistics = desk.session.statistics()
    if not statistics.days:
        desk.say(tr("Nothing was counted today. `agent stats` shows earlier days."))
        return
    tables = (tool_rows(statistics), model_rows(statistics), day_rows(statistics))
    desk.say("\n\n".join(map(_table, tables)))


def _table(rows: Iterable[Row]) -> str:
    head, *rest = rows
    rule = "|---|" + "---:|" * (len(head) - 1)
    return "\n".join([_line(head), rule, *map(_line, rest)])


def _line(row: Row) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


COMMAND = Command(name="stats", help=mark("what was called, used and spent today"), run=run)
