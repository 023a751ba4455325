"""Starts a new conversation."""

from agent_cli.commands._command import Command
from agent_cli.lib.language import mark

COMMAND = Command(
    name="clear",
    help=mark("a new conversation"),
    aliases=("new",),
    run=lambda desk, _: desk.clear(),
)
