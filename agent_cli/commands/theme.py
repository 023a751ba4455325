"""Shows or changes the look."""

from agent_cli.commands._command import Command, Desk
from agent_cli.lib.language import mark, tr


def run(desk: Desk, argument: str) -> None:
    """With a name: change the theme."""
    themes = desk.themes()
    if argument in themes:
        desk.use_theme(argument)
    elif argument:
        names = ", ".join(themes)
        desk.warn(
            tr("{name} is not a theme.", name=argument), tr("The themes are {names}.", names=names)
        )
    else:
        desk.say(", ".join(f"`{name}`" for name in themes) or tr("There is no choice here."))


COMMAND = Command(name="theme", help=mark("another look"), argument=mark("[name]"), run=run)
