"""Shows the sessions there are, to go on with one."""

from agent_cli.commands._command import Command
from agent_cli.lib.language import mark

COMMAND = Command(
    name="sessions",
    help=mark("go on with another session"),
    argument=mark("[words]"),
    aliases=("resume",),
    run=lambda desk, words: desk.choose_session(words),
)
