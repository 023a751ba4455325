"""Shows or changes the colour theme."""

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import slash_command
from agent_cli.core.errors import UserError
from agent_cli.lib.language import mark, tr


@slash_command("theme", mark("change the colour theme"), mark("[name]"))
def run(controller: Controller, argument: str) -> None:
    """With a name: change the theme."""
    themes = controller.view.themes
    if not argument:
        names = ", ".join(f"`{name}`" for name in themes)
        controller.view.say(names or tr("There is only one theme here."))
    elif argument not in themes:
        raise UserError(
            tr("There is no theme {name}.", name=argument),
            hint=tr("The themes are {names}.", names=", ".join(themes)) if themes else "",
        )
    else:
        controller.view.use_theme(argument)
