"""Starts a new conversation."""

from agent_cli.controller.slash_command import Command
from agent_cli.lib.language import mark

COMMAND = Command(
    name="clear",
    help=mark("start a new conversation"),
    aliases=("new",),
    run=lambda controller, _: controller.clear(),
)
