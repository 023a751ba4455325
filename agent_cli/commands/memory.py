"""What the model remembers: compaction, pins, and what was compacted away."""

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import slash_command
from agent_cli.lib.language import mark, tr, trn

MAX_LINES = 4
MAX_LINE_CHARS = 160


@slash_command(
    "compact", mark("summarise the older part of the conversation"), mark("[focus, or undo]")
)
def compact(controller: Controller, argument: str) -> None:
    """With words: what the summary must not forget. With `undo`: undo the last one."""
    session = controller.session
    if argument != "undo":
        controller.play(session.compact(argument))
    elif session.is_running:
        controller.warn_busy()
    elif session.memory.undo_compaction():
        count = len(session.messages)
        controller.view.say(tr("Undone: the conversation is back to {n:,} messages.", n=count))
        controller.refresh()
    else:
        controller.warn(tr("Nothing to undo: the conversation wasn't compacted."))


@slash_command(
    "pin",
    mark("keep something through compaction, word for word"),
    mark("[words, or last]"),
    aliases=("pins",),
)
def pin_words(controller: Controller, argument: str) -> None:
    """With words: pin them. With `last`: the model's last reply. Without: list the pins."""
    memory = controller.session.memory
    if not argument:
        rows = [f"{number}. {_short(pin.text)}" for number, pin in enumerate(memory.pins, 1)]
        controller.view.say(
            "\n".join(rows) or tr("Nothing is pinned. Use `/pin WORDS` or `/pin last`.")
        )
    elif controller.session.is_running:
        controller.warn_busy()
    else:
        pin = memory.pin_last_reply() if argument == "last" else memory.pin(argument)
        if pin is None:
            controller.warn(tr("The model hasn't said anything yet."))
        else:
            controller.view.say(tr("Pinned: {text}", text=_short(pin.text)))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return f"`{line[:99]}…`" if len(line) > 100 else f"`{line}`"


@slash_command("unpin", mark("remove a pin"), mark("<number>"))
def unpin(controller: Controller, argument: str) -> None:
    """By its number in the list of `/pin`."""
    pin = controller.session.memory.unpin(int(argument)) if argument.isdecimal() else None
    if pin is None:
        controller.warn(tr("There is no such pin."), tr("/pin lists them by number."))
    else:
        controller.view.say(tr("Unpinned."))


@slash_command("recall", mark("search what was compacted away and send it again"), mark("<words>"))
def recall(controller: Controller, argument: str) -> None:
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
    controller.view.say("\n\n".join(parts))


def _excerpt(text: str, words: str) -> str:
    """The first lines that contain one of the words."""
    wanted = words.lower().split()
    lines = [line for line in text.splitlines() if any(word in line.lower() for word in wanted)]
    return "\n".join(f"    {line.strip()[:MAX_LINE_CHARS]}" for line in lines[:MAX_LINES])
