"""Changes to plan mode: the model looks and thinks, and changes nothing."""

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import Command
from agent_cli.core.policy import Mode
from agent_cli.lib.language import mark


def run(controller: Controller, argument: str) -> None:
    """Plan mode on, or off again."""
    planning = controller.session.mode is Mode.PLAN
    controller.session.set_mode(Mode.DEFAULT if planning else Mode.PLAN)
    controller.refresh()


COMMAND = Command(name="plan", help=mark("turn plan mode on or off"), run=run)
