"""Shortens the conversation: shown first, and it can be undone."""

from agent_cli.commands._command import Command, Desk


def run(desk: Desk, argument: str) -> None:
    """With words: what the summary must not forget. With `undo`: the last one taken back."""
    session = desk.session
    if argument != "undo":
        desk.play(session.compact(argument))
    elif session.is_running:
        desk.warn("A turn is under way.", "Interrupt it first.")
    elif session.memory.undo_compaction():
        desk.say(f"Undone: the conversation has {len(session.messages):,} messages again.")
        desk.changed()
    else:
        desk.warn("Nothing was compacted.")


COMMAND = Command(
    name="compact",
    help="summarise the older part, after showing what is kept",
    argument="[focus, or undo]",
    run=run,
)
