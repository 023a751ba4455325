"""Shows today's usage over all sessions."""

from collections.abc import Iterable

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import slash_command
from agent_cli.core.money.statistics_tables import TableRow, day_rows, model_rows, tool_rows
from agent_cli.lib.language import mark, tr


@slash_command("stats", mark("show today's tool calls, tokens and cost"))
def run(controller: Controller, argument: str) -> None:
    """Calls by tool, and tokens and dollars by model."""
    statistics = controller.session.statistics()
    if not statistics.days:
        controller.view.say(tr("Nothing yet today. `agent stats` shows earlier days."))
        return
    tables = (tool_rows(statistics), model_rows(statistics), day_rows(statistics))
    controller.view.say("\n\n".join(map(_table, tables)))


def _table(rows: Iterable[TableRow]) -> str:
    head, *rest = rows
    rule = "|---|" + "---:|" * (len(head) - 1)
    return "\n".join([_line(head), rule, *map(_line, rest)])


def _line(row: TableRow) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
