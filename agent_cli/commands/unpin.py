"""Removes a pin."""

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import Command
from agent_cli.lib.language import mark, tr


def run(controller: Controller, argument: str) -> None:
    """By its number in the list of `/pin`."""
    pin = controller.session.memory.unpin(int(argument)) if argument.isdecimal() else None
    if pin is None:
        controller.warn(tr("There is no such pin."), tr("/pin lists them by number."))
    else:
        controller.say(tr("Unpinned."))


COMMAND = Command(name="unpin", help=mark("remove a pin"), argument=mark("<number>"), run=run)
