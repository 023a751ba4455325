"""Brings back what a compaction dropped."""

from agent_cli.commands._command import Command, Desk
from agent_cli.lib.text import head_and_tail, plural

SHOWN = 600
"""Characters of each thing that are shown."""


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
    parts = [
        f"{plural(len(found), 'thing')} brought back; the model sees it with your next message."
    ]
    for each in found:
        text = head_and_tail(each.text, SHOWN, "[… {left_out:,} characters …]")
        fence = "`" * 3
        while fence in text:
            fence += "`"
        parts.append(f"**{each.title}**\n\n{fence}\n{text}\n{fence}")
    desk.say("\n\n".join(parts))


COMMAND = Command(
    name="recall", help="search what was dropped and bring it back", argument="<words>", run=run
)
