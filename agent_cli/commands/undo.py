"""Takes back what calls did to files."""

from agent_cli.commands._command import Command, Desk
from agent_cli.lib.language import mark


def run(desk: Desk, argument: str) -> None:
    """The last turn; with `call` only the last call; with an id that call."""
    desk.undo(argument or "turn")


COMMAND = Command(
    name="undo", help=mark("take back what the last turn changed"), argument="[call]", run=run
)
