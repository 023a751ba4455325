"""Shows keys and commands."""

from agent_cli.commands._command import Command

COMMAND = Command(name="help", help="keys and commands", run=lambda desk, _: desk.help())
