"""Shows or changes the model."""

from agent_cli.commands._command import Command, Desk
from agent_cli.core.errors import UserError


def run(desk: Desk, argument: str) -> None:
    """With a name: go on with that model."""
    if not argument:
        desk.say(f"The model is **{desk.session.model}**. `/model NAME` changes it.")
        return
    try:
        desk.session.use_model(argument)
    except UserError as error:
        desk.warn(error.message, error.hint)
        return
    desk.say(f"The model is now **{argument}**.")
    desk.changed()


COMMAND = Command(name="model", help="use another model", argument="[name]", run=run)
