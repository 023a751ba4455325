"""Shows or changes the look."""

from agent_cli.commands._command import Command, Desk


def run(desk: Desk, argument: str) -> None:
    """With a name: change the theme."""
    themes = desk.themes()
    if argument in themes:
        desk.use_theme(argument)
    elif argument:
        desk.warn(f"{argument} is not a theme.", f"The themes are {', '.join(themes)}.")
    else:
        desk.say(", ".join(f"`{name}`" for name in themes) or "There is no choice here.")


COMMAND = Command(name="theme", help="another look", argument="[name]", run=run)
