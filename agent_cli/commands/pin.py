"""Pins something: it is sent word for word ever after."""

from agent_cli.commands._command import Command, Desk
from agent_cli.lib.language import mark, tr


def run(desk: Desk, argument: str) -> None:
    """With words: pin them. With `last`: the model's last reply. Without: list the pins."""
    memory = desk.session.memory
    if not argument:
        rows = [f"{number}. {_short(pin.text)}" for number, pin in enumerate(memory.pins, 1)]
        desk.say("\n".join(rows) or tr("Nothing is pinned. `/pin WORDS` or `/pin last` does."))
    elif desk.session.is_running:
        desk.warn(tr("A turn is under way."), tr("Pin it when the turn is over."))
    else:
        pin = memory.pin_last_reply() if argument == "last" else memory.pin(argument)
        if pin is None:
            desk.warn(tr("The model has said nothing yet."))
        else:
            desk.say(tr("Pinned: {text}", text=_short(pin.text)))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return f"`{line[:99]}…`" if len(line) > 100 else f"`{line}`"


COMMAND = Command(
    name="pin",
    help=mark("keep something word for word"),
    argument=mark("[words, or last]"),
    aliases=("pins",),
    run=run,
)
