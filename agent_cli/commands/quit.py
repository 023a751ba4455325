"""Leaves the program."""

from agent_cli.commands._command import Command

COMMAND = Command(name="quit", help="leave", aliases=("exit",), run=lambda desk, _: desk.leave())
