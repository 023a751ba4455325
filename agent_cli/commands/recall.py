"""Sends again what a compaction dropped."""

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import Command
from agent_cli.lib.language import mark, tr, trn

MAX_LINES = 4
MAX_LINE_CHARS = 160


def run(controller: Controller, argument: str) -> None:
    """Search what is not sent any more, and send the best matches again."""
    if not argument:
        controller.warn(
            tr("Search for what?"), tr("/recall WORDS searches what was compacted away.")
        )
        return
    if controller.session.is_running:
        controller.warn_busy()
        return
    found = controller.session.memory.recall(argument)
    if not found:
        controller.warn(tr("Nothing that was compacted away contains all of these words."))
        return
    parts = [
        trn(
            "Recalled {n:,} item. The model sees it with your next message.",
            "Recalled {n:,} items. The model sees them with your next message.",
            len(found),
        )
    ]
    parts += [f"**{each.title}**\n\n{_excerpt(each.text, argument)}" for each in found]
    controller.say("\n\n".join(parts))


def _excerpt(text: str, words: str) -> str:
    """The first lines that contain one of the words."""
    wanted = words.lower().split()
    lines = [line for line in text.splitlines() if any(word in line.lower() for word in wanted)]
    return "\n".join(f"    {line.strip()[:MAX_LINE_CHARS]}" for line in lines[:MAX_LINES])


COMMAND = Command(
    name="recall",
    help=mark("search what was compacted away and send it again"),
    argument=mark("<words>"),
    run=run,
)
