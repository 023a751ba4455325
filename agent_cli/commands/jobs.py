"""Lists what runs in the background."""

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import Command
from agent_cli.lib.language import mark, tr
from agent_cli.tools._shell.background_jobs import Jobs


def run(controller: Controller, argument: str) -> None:
    """Each background job and its state."""
    jobs = list(controller.session.state(Jobs))
    rows = [f"- **{job.id}** `{job.command.text}`: {job.standing}" for job in jobs]
    controller.say("\n".join(rows) or tr("No background jobs."))


COMMAND = Command(name="jobs", help=mark("list background jobs"), run=run)
