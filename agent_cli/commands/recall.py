"""Brings back what a compaction dropped."""

from agent_cli.commands._command import Command, Desk
from agent_cli.lib.language import mark, tr, trn

SHOWN_LINES = 4
LONGEST_LINE = 160


def run(desk: Desk, argument: str) -> None:
    """Search what is not sent any more, and send the best matches again."""
    if not argument:
        desk.warn(tr("What shall be searched for?"), tr("/recall WORDS searches what was dropped."))
        return
    if desk.session.is_running:
        desk.warn(tr("A turn is under way."), tr("Recall it when the turn is over."))
        return
    found = desk.session.memory.recall(argument)
    if not found:
        desk.warn(tr("Nothing that was dropped has all of these words."))
        return
    parts = [
        trn(
            "{n:,} thing brought back; the model sees it with your next message.",
            "{n:,} things brought back; the model sees it with your next message.",
            len(found),
        )
    ]
    parts += [f"**{each.title}**\n\n{_excerpt(each.text, argument)}" for each in found]
    desk.say("\n\n".join(parts))


def _excerpt(text: str, words: str) -> str:
    """The first lines in which one of the words stands."""
    wanted = words.lower().split()
    lines = [line for line in text.splitlines() if any(word in line.lower() for word in wanted)]
    return "\n".join(f"    {line.strip()[:LONGEST_LINE]}" for line in lines[:SHOWN_LINES])


COMMAND = Command(
    name="recall",
    help=mark("search what was dropped and bring it back"),
    argument=mark("<words>"),
    run=run,
)
