"""Pins something: it survives compaction word for word."""

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import Command
from agent_cli.lib.language import mark, tr


def run(controller: Controller, argument: str) -> None:
    """With words: pin them. With `last`: the model's last reply. Without: list the pins."""
    memory = controller.session.memory
    if not argument:
        rows = [f"{number}. {_short(pin.text)}" for number, pin in enumerate(memory.pins, 1)]
        controller.say("\n".join(rows) or tr("Nothing is pinned. Use `/pin WORDS` or `/pin last`."))
    elif controller.session.is_running:
        controller.warn_busy()
    else:
        pin = memory.pin_last_reply() if argument == "last" else memory.pin(argument)
        if pin is None:
            controller.warn(tr("The model hasn't said anything yet."))
        else:
            controller.say(tr("Pinned: {text}", text=_short(pin.text)))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return f"`{line[:99]}…`" if len(line) > 100 else f"`{line}`"


COMMAND = Command(
    name="pin",
    help=mark("keep something through compaction, word for word"),
    argument=mark("[words, or last]"),
    aliases=("pins",),
    run=run,
)
