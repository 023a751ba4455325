"""Takes a pin away."""

from agent_cli.commands._command import Command, Desk
from agent_cli.lib.language import mark, tr


def run(desk: Desk, argument: str) -> None:
    """By its number in the list of `/pin`."""
    pin = desk.session.memory.unpin(int(argument)) if argument.isdecimal() else None
    if pin is None:
        desk.warn(tr("There is no such pin."), tr("/pin lists them by number."))
    else:
        desk.say(tr("Not pinned any more."))


COMMAND = Command(name="unpin", help=mark("take a pin away"), argument=mark("<number>"), run=run)
