"""Shortens the conversation: shown first, and it can be undone."""

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import Command
from agent_cli.lib.language import mark, tr


def run(controller: Controller, argument: str) -> None:
    """With words: what the summary must not forget. With `undo`: undo the last one."""
    session = controller.session
    if argument != "undo":
        controller.play(session.compact(argument))
    elif session.is_running:
        controller.warn_busy()
    elif session.memory.undo_compaction():
        count = len(session.messages)
        controller.say(tr("Undone: the conversation is back to {n:,} messages.", n=count))
        controller.refresh()
    else:
        controller.warn(tr("Nothing to undo: the conversation wasn't compacted."))


COMMAND = Command(
    name="compact",
    help=mark("summarise the older part of the conversation"),
    argument=mark("[focus, or undo]"),
    run=run,
)
