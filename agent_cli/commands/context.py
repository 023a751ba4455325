"""Shows what fills the model's window."""

from agent_cli.commands._command import Command, Desk
from agent_cli.core.context import WORDS
from agent_cli.lib.text import plural

CELLS = 24


def run(desk: Desk, argument: str) -> None:
    """What the next request would hold, part by part, as a table with bars."""
    session, window = desk.session, desk.window()
    fill = session.fill()
    whole = window or fill.total or 1
    rows = [_row(WORDS[name], count, whole) for name, count in fill.parts]
    if window:
        rows.append(_row("free", max(0, window - fill.total), window))
    share = f" of {window:,} ({fill.total / window:.0%})" if window else "; the window is not known"
    basis = (
        "The parts are scaled to what the provider counted last."
        if fill.is_counted
        else "This is an estimate: the provider has not counted anything yet."
    )
    pins = session.memory.pins
    pinned = f" {plural(len(pins), 'pin')}." if pins else ""
    desk.say(
        f"The next request would have about **{fill.total:,}** tokens{share}.\n\n"
        + "| part | tokens | share | |\n|---|---:|---:|---|\n"
        + "\n".join(rows)
        + f"\n\n{basis} {plural(len(session.messages), 'message')}.{pinned}"
    )


def _row(name: str, count: int, whole: int) -> str:
    share = count / whole
    bar = "█" * max(round(share * CELLS), 1 if count else 0)
    return f"| {name} | {count:,} | {share:.0%} | {bar} |"


COMMAND = Command(name="context", help="what fills the model's window", run=run)
