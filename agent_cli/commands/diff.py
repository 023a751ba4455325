"""Shows what the file tools changed in this session."""

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import Command
from agent_cli.lib.language import mark, tr


def run(controller: Controller, argument: str) -> None:
    """The diffs, oldest first."""
    diffs = [f"```diff\n{block.diff.rstrip()}\n```" for block in controller.diffs if block.diff]
    controller.say("\n\n".join(diffs) or tr("No file was edited in this session."))


COMMAND = Command(name="diff", help=mark("show what was edited in this session"), run=run)
