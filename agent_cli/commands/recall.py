"""Brings back what a compaction dropped."""

from agent_cli.commands._command import Command, Desk
from agent_cli.lib.text import plural

SHOWN_LINES = 4
LONGEST_LINE = 160


def run(desk: Desk, argument: str) -> None:
    """Search what is not sent any more, and send the best matches again."""
    if not argument:
        desk.warn("What shall be searched for?", "/recall WORDS searches what was dropped.")
        return
    if desk.session.is_running:
        desk.warn("A turn is under way.", "Recall it when the turn is over.")
        return
    found = desk.session.memory.recall(argument)
    if not found:
        desk.warn("Nothing that was dropped has all of these words.")
        return
    brought = plural(len(found), "thing")
    parts = [f"{brought} brought back; the model sees it with your next message."]
    parts += [f"**{each.title}**\n\n{_excerpt(each.text, argument)}" for each in found]
    desk.say("\n\n".join(parts))


def _excerpt(text: str, words: str) -> str:
    """The first lines in which one of the words stands."""
    wanted = words.lower().split()
    lines = [line for line in text.splitlines() if any(word in line.lower() for word in wanted)]
    return "\n".join(f"    {line.strip()[:LONGEST_LINE]}" for line in lines[:SHOWN_LINES])


COMMAND = Command(
    name="recall", help="search what was dropped and bring it back", argument="<words>", run=run
)
