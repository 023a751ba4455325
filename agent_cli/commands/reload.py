"""Loads what extensions there are again, if they were added, changed or removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_cli.commands._command import Command, Desk
from agent_cli.extending import host_of
from agent_cli.lib.language import mark, tr

if TYPE_CHECKING:
    from agent_cli.extensions.host import Host


def run(desk: Desk, argument: str) -> None:
    """Look for changes, and say what came of them."""
    host = host_of(desk.session)
    if host is None:
        desk.warn(tr("Extensions are not loaded yet."), tr("Try again in a moment."))
        return
    host.background(_reload(desk, host))


async def _reload(desk: Desk, host: Host) -> None:
    said = await host.reload()
    what = f"{said[:1].upper()}{said[1:]}"
    desk.say(f"{what}." if said else tr("Nothing has changed."))


COMMAND = Command(name="reload", help=mark("load changed tools, commands and skills"), run=run)
