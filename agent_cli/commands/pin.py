"""Pins something: it is sent word for word ever after."""

from agent_cli.commands._command import Command, Desk


def run(desk: Desk, argument: str) -> None:
    """With words: pin them. With `last`: the model's last reply. Without: list the pins."""
    memory = desk.session.memory
    if not argument:
        rows = [f"{number}. {_short(pin.text)}" for number, pin in enumerate(memory.pins, 1)]
        desk.say("\n".join(rows) or "Nothing is pinned. `/pin WORDS` or `/pin last` does.")
    elif desk.session.is_running:
        desk.warn("A turn is under way.", "Pin it when the turn is over.")
    else:
        pin = memory.pin_last_reply() if argument == "last" else memory.pin(argument)
        if pin is None:
            desk.warn("The model has said nothing yet.")
        else:
            desk.say(f"Pinned: {_short(pin.text)}")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return f"`{line[:99]}…`" if len(line) > 100 else f"`{line}`"


COMMAND = Command(
    name="pin",
    help="keep something word for word",
    argument="[words, or last]",
    aliases=("pins",),
    run=run,
)
