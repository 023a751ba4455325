"""Reloads extensions that were added, changed or removed."""

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import Command
from agent_cli.extension_setup import host_of
from agent_cli.lib.language import mark, tr


async def run(controller: Controller, argument: str) -> None:
    """Look for changes, and say what was found."""
    host = host_of(controller.session)
    if host is None:
        controller.warn(tr("Extensions are not loaded yet."), tr("Try again in a moment."))
        return
    changes = await host.reload()
    controller.say(
        f"{changes[:1].upper()}{changes[1:]}." if changes else tr("Nothing has changed.")
    )


COMMAND = Command(name="reload", help=mark("reload changed tools, commands and skills"), run=run)
