"""Shows what fills the model's window."""

from collections.abc import Iterator
from functools import reduce

from agent_cli.commands._command import Command, Desk
from agent_cli.core.context import WORDS, Fill
from agent_cli.core.session import Session
from agent_cli.lib.language import mark, tr, trn

CELLS = 24


def run(desk: Desk, argument: str) -> None:
    """What the next request would hold, part by part, as a table with bars."""
    session, window = desk.session, desk.window()
    fill = session.fill()
    whole = window or fill.total or 1
    rows = [_row(tr(WORDS[name]), count, whole) for name, count in fill.parts]
    if window:
        rows.append(_row(tr("free"), max(0, window - fill.total), window))
    head = tr("| part | tokens | share | |") + "\n|---|---:|---:|---|\n"
    table = head + "\n".join(rows)
    notes = reduce(_after, _notes(session, fill))
    desk.say("\n\n".join((_whole(fill.total, window), table, notes)))


def _whole(total: int, window: int | None) -> str:
    if not window:
        return tr(
            "The next request would have about **{total:,}** tokens; the window is not known.",
            total=total,
        )
    return tr(
        "The next request would have about **{total:,}** tokens of {window:,} ({share:.0%}).",
        total=total,
        window=window,
        share=total / window,
    )


def _notes(session: Session, fill: Fill) -> Iterator[str]:
    if fill.is_counted:
        yield tr("The parts are scaled to what the provider counted last.")
    else:
        yield tr("This is an estimate: the provider has not counted anything yet.")
    yield trn("{n:,} message.", "{n:,} messages.", len(session.messages))
    if pins := session.memory.pins:
        yield trn("{n:,} pin.", "{n:,} pins.", len(pins))


def _after(first: str, second: str) -> str:
    return f"{first} {second}"


def _row(name: str, count: int, whole: int) -> str:
    share = count / whole
    bar = "█" * max(round(share * CELLS), 1 if count else 0)
    return f"| {name} | {count:,} | {share:.0%} | {bar} |"


COMMAND = Command(name="context", help=mark("what fills the model's window"), run=run)
