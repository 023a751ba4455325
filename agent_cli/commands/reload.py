"""Loads tools and plugins again that were added, changed or removed."""

from agent_cli.commands._command import Command, Desk
from agent_cli.extensions.host import Host


def run(desk: Desk, argument: str) -> None:
    """Look for changes, and say what came of them."""
    host = desk.session.extensions
    if not isinstance(host, Host):
        desk.warn("Plugins are switched off.", "`plugins.enabled` in the configuration.")
        return
    host.background(_reload(desk, host))


async def _reload(desk: Desk, host: Host) -> None:
    said = await host.reload()
    desk.say(f"{said[:1].upper()}{said[1:]}." if said else "Nothing has changed.")


COMMAND = Command(name="reload", help="load changed tools and plugins", run=run)
