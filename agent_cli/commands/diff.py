"""Shows what the file tools changed in this session."""

from agent_cli.commands._command import Command, Desk


def run(desk: Desk, argument: str) -> None:
    """The diffs, oldest first."""
    diffs = [f"```diff\n{diff.rstrip()}\n```" for diff in desk.changes()]
    desk.say("\n\n".join(diffs) or "No file was edited in this session.")


COMMAND = Command(name="diff", help="what was edited in this session", run=run)
