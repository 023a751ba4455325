"""Goes back to an earlier prompt."""

from agent_cli.controller.slash_command import Command
from agent_cli.controller.undo_commands import rewind
from agent_cli.lib.language import mark

COMMAND = Command(
    name="rewind",
    help=mark("go back to an earlier prompt: files, conversation, or both"),
    run=lambda controller, _: rewind(controller),
)
