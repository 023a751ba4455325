"""Changes to plan mode: the model looks and thinks, and changes nothing."""

from agent_cli.commands._command import Command, Desk
from agent_cli.core.permissions import Mode
from agent_cli.lib.language import mark


def run(desk: Desk, argument: str) -> None:
    """Plan mode on, or off again."""
    planning = desk.session.mode is Mode.PLAN
    desk.session.set_mode(Mode.DEFAULT if planning else Mode.PLAN)
    desk.changed()


COMMAND = Command(
    name="plan", help=mark("plan without changing anything, or stop planning"), run=run
)
