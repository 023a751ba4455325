"""Shows what the file tools changed in this session."""

from agent_cli.commands._command import Command, Desk
from agent_cli.lib.language import mark, tr


def run(desk: Desk, argument: str) -> None:
    """The diffs, oldest first."""
    diffs = [f"```diff\n{diff.rstrip()}\n```" for diff in desk.changes()]
    desk.say("\n\n".join(diffs) or tr("No file was edited in this session."))


COMMAND = Command(name="diff", help=mark("what was edited in this session"), run=run)
