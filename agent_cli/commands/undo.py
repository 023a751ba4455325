"""Undoes what calls did to files."""

from agent_cli.controller.slash_command import Command
from agent_cli.controller.undo_commands import undo
from agent_cli.lib.language import mark

COMMAND = Command(
    name="undo",
    help=mark("undo the last turn's file changes"),
    argument="[call]",
    run=lambda controller, argument: undo(controller, argument or "turn"),
)
