"""Takes back what calls did to files."""

from agent_cli.commands._command import Command, Desk


def run(desk: Desk, argument: str) -> None:
    """The last turn; with `call` only the last call; with an id that call."""
    desk.undo(argument or "turn")


COMMAND = Command(
    name="undo", help="take back what the last turn changed", argument="[call]", run=run
)
