"""Goes back to an earlier prompt."""

from agent_cli.commands._command import Command

COMMAND = Command(
    name="rewind",
    help="go back to an earlier prompt: files, conversation, or both",
    run=lambda desk, _: desk.rewind(),
)
