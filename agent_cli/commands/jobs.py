"""Lists what runs in the background."""

from agent_cli.commands._command import Command, Desk
from agent_cli.lib.language import mark, tr
from agent_cli.tools._shell.jobs import Jobs


def run(desk: Desk, argument: str) -> None:
    """Each background job and how it stands."""
    jobs = list(desk.session.state(Jobs))
    rows = [f"- **{job.id}** `{job.command.text}`: {job.standing}" for job in jobs]
    desk.say("\n".join(rows) or tr("Nothing runs in the background."))


COMMAND = Command(name="jobs", help=mark("what runs in the background"), run=run)
