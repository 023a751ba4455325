"""Shows or changes the model."""

from agent_cli.commands._command import Command, Desk
from agent_cli.core.errors import UserError
from agent_cli.lib.language import mark, tr


def run(desk: Desk, argument: str) -> None:
    """With a name: go on with that model."""
    if not argument:
        desk.say(
            tr("The model is **{model}**. `/model NAME` changes it.", model=desk.session.model)
        )
        return
    try:
        desk.session.use_model(argument)
    except UserError as error:
        desk.warn(error.message, error.hint)
        return
    desk.say(tr("The model is now **{model}**.", model=argument))
    desk.changed()


COMMAND = Command(name="model", help=mark("use another model"), argument=mark("[name]"), run=run)
