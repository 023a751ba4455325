"""Tries again what failed."""

from agent_cli.commands._command import Command
from agent_cli.lib.language import mark

COMMAND = Command(
    name="retry", help=mark("try again after a failed turn"), run=lambda desk, _: desk.retry()
)
