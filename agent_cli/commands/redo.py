"""Reapplies what was undone."""

from agent_cli.controller.command import Command
from agent_cli.controller.undo import redo
from agent_cli.lib.language import mark

COMMAND = Command(
    name="redo", help=mark("reapply what was undone"), run=lambda controller, _: redo(controller)
)
