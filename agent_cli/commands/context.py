"""Shows what fills the model's window."""

from collections.abc import Iterator

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import slash_command
from agent_cli.core.context_usage import WORDS, ContextUsage
from agent_cli.core.session import Session
from agent_cli.lib.language import mark, tr, trn

CELLS = 24


@slash_command("context", mark("show what fills the model's window"))
def run(controller: Controller, argument: str) -> None:
    """What the next request would hold, part by part, as a table with bars."""
    session, window = controller.session, controller.window
    fill = session.fill()
    whole = window or fill.total or 1
    rows = [_row(tr(WORDS[name]), count, whole) for name, count in fill.parts]
    if window:
        rows.append(_row(tr("free"), max(0, window - fill.total), window))
    head = tr("| part | tokens | share | |") + "\n|---|---:|---:|---|\n"
    table = head + "\n".join(rows)
    notes = " ".join(_notes(session, fill))
    controller.view.say("\n\n".join((_whole(fill.total, window), table, notes)))


def _whole(total: int, window: int | None) -> str:
    if not window:
        return tr(
            "The next request has about **{total:,}** tokens. This model's window is unknown.",
            total=total,
        )
    return tr(
        "The next request has about **{total:,}** of {window:,} tokens ({share:.0%}).",
        total=total,
        window=window,
        share=total / window,
    )


def _notes(session: Session, fill: ContextUsage) -> Iterator[str]:
    if fill.is_counted:
        yield tr("Scaled to the provider's last count.")
    else:
        yield tr("An estimate: the provider hasn't counted anything yet.")
    yield trn("{n:,} message.", "{n:,} messages.", len(session.messages))
    if pins := session.memory.pins:
        yield trn("{n:,} pin.", "{n:,} pins.", len(pins))


def _row(name: str, count: int, whole: int) -> str:
    share = count / whole
    bar = "█" * max(round(share * CELLS), 1 if count else 0)
    return f"| {name} | {count:,} | {share:.0%} | {bar} |"
