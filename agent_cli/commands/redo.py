"""Brings back what was undone."""

from agent_cli.commands._command import Command
from agent_cli.lib.language import mark

COMMAND = Command(
    name="redo", help=mark("bring back what was undone"), run=lambda desk, _: desk.redo()
)
