"""Continues in a copy of the session; the session itself stays as it is."""

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import Command
from agent_cli.launch_options import Resume
from agent_cli.lib.language import mark, tr


def run(controller: Controller, argument: str) -> None:
    """Leave the session where it is, and open its copy."""
    if not controller.session.is_kept:
        controller.warn(tr("Nothing to fork yet."))
        return
    controller.resume(Resume(controller.session.id, fork=True))


COMMAND = Command(name="fork", help=mark("continue in a copy of this session"), run=run)
