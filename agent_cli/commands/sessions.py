"""Shows the sessions there are, to go on with one."""

from agent_cli.commands._command import Command

COMMAND = Command(
    name="sessions",
    help="go on with another session",
    argument="[words]",
    aliases=("resume",),
    run=lambda desk, words: desk.choose_session(words),
)
