"""Takes a pin away."""

from agent_cli.commands._command import Command, Desk


def run(desk: Desk, argument: str) -> None:
    """By its number in the list of `/pin`."""
    pin = desk.session.memory.unpin(int(argument)) if argument.isdecimal() else None
    if pin is None:
        desk.warn("There is no such pin.", "/pin lists them by number.")
    else:
        desk.say("Not pinned any more.")


COMMAND = Command(name="unpin", help="take a pin away", argument="<number>", run=run)
