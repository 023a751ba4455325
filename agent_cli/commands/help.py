"""Shows keys and commands."""

from agent_cli.commands._command import Command
from agent_cli.lib.language import mark

COMMAND = Command(name="help", help=mark("keys and commands"), run=lambda desk, _: desk.help())
