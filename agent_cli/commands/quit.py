"""Leaves the program."""

from agent_cli.controller.slash_command import Command
from agent_cli.lib.language import mark

COMMAND = Command(
    name="quit",
    help=mark("leave"),
    aliases=("exit",),
    run=lambda controller, _: controller.view.leave(),
)
