"""Goes on in a copy of the session; the session itself stays as it is."""

from agent_cli.commands._command import Command, Desk
from agent_cli.lib.language import mark, tr
from agent_cli.wishes import Resume


def run(desk: Desk, argument: str) -> None:
    """Leave the session where it is, and open its copy."""
    if not desk.session.is_kept:
        desk.warn(tr("There is nothing to copy yet."))
        return
    desk.resume(Resume(desk.session.id, fork=True))


COMMAND = Command(name="fork", help=mark("go on in a copy of this session"), run=run)
