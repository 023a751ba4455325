"""Shortens the conversation: shown first, and it can be undone."""

from agent_cli.commands._command import Command, Desk
from agent_cli.lib.language import mark, tr


def run(desk: Desk, argument: str) -> None:
    """With words: what the summary must not forget. With `undo`: the last one taken back."""
    session = desk.session
    if argument != "undo":
        desk.play(session.compact(argument))
    elif session.is_running:
        desk.warn(tr("A turn is under way."), tr("Interrupt it first."))
    elif session.memory.undo_compaction():
        count = len(session.messages)
        desk.say(tr("Undone: the conversation has {n:,} messages again.", n=count))
        desk.changed()
    else:
        desk.warn(tr("Nothing was compacted."))


COMMAND = Command(
    name="compact",
    help=mark("summarise the older part, after showing what is kept"),
    argument=mark("[focus, or undo]"),
    run=run,
)
