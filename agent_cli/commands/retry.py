"""Retries a failed turn."""

from agent_cli.controller.slash_command import Command
from agent_cli.lib.language import mark

COMMAND = Command(
    name="retry", help=mark("retry a failed turn"), run=lambda controller, _: controller.retry()
)
