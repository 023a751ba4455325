"""Shows the sessions there are, to resume one."""

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import Command
from agent_cli.lib.language import mark


async def run(controller: Controller, words: str) -> None:
    """Resume the one that is chosen, of those that contain these words, if any."""
    if controller.is_busy:
        controller.warn_busy()
    elif chosen := await controller.view.choose_session(words):
        controller.resume(chosen)


COMMAND = Command(
    name="sessions",
    help=mark("resume another session"),
    argument=mark("[words]"),
    aliases=("resume",),
    run=run,
)
