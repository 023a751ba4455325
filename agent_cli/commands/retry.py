"""Tries again what failed."""

from agent_cli.commands._command import Command

COMMAND = Command(
    name="retry", help="try again after a failed turn", run=lambda desk, _: desk.retry()
)
