"""Starts a new conversation."""

from agent_cli.commands._command import Command

COMMAND = Command(
    name="clear", help="a new conversation", aliases=("new",), run=lambda desk, _: desk.clear()
)
