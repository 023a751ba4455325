"""Brings back what was undone."""

from agent_cli.commands._command import Command

COMMAND = Command(name="redo", help="bring back what was undone", run=lambda desk, _: desk.redo())
