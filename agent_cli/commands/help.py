"""Shows keys and commands."""

from agent_cli.controller.slash_command import Command
from agent_cli.lib.language import mark

COMMAND = Command(
    name="help",
    help=mark("show keys and commands"),
    run=lambda controller, _: controller.view.show_help(controller.commands),
)
