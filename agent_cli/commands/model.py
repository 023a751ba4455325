"""Shows or changes the model."""

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import slash_command
from agent_cli.lib.language import mark, tr


@slash_command("model", mark("show or change the model"), mark("[name]"))
def run(controller: Controller, argument: str) -> None:
    """With a name: use that model from the next turn on."""
    session = controller.session
    if not argument:
        now = tr("The model is **{model}**. `/model NAME` changes it.", model=session.model)
        controller.view.say(now)
        return
    session.use_model(argument)
    controller.view.say(tr("The model is now **{model}**.", model=argument))
    controller.refresh()
