"""Reapplies what was undone."""

from agent_cli.controller.slash_command import Command
from agent_cli.controller.undo_commands import redo
from agent_cli.lib.language import mark

COMMAND = Command(
    name="redo", help=mark("reapply what was undone"), run=lambda controller, _: redo(controller)
)
