"""Puts text on the clipboard."""

from agent_cli.commands._command import Command, Desk
from agent_cli.lib.language import mark


def run(desk: Desk, argument: str) -> None:
    """The last reply, or with `all` the whole conversation."""
    desk.copy("all" if argument == "all" else "reply")


COMMAND = Command(
    name="copy", help=mark("the last reply to the clipboard"), argument="[all]", run=run
)
