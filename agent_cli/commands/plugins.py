"""Lists plugins and their state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import Command
from agent_cli.extension_setup import host_of
from agent_cli.lib.language import mark, tr

if TYPE_CHECKING:
    from agent_cli.extensions.session_plugins import PluginStatus


def run(controller: Controller, argument: str) -> None:
    """Each plugin with its tools, or why it was skipped."""
    host = host_of(controller.session)
    plugins = host.plugins if host is not None else None
    standings = plugins.standings if plugins is not None else ()
    controller.say("\n".join(map(_row, standings)) or tr("There are no plugins."))


def _row(standing: PluginStatus) -> str:
    name = f"- **{standing.origin.name}** `{standing.origin.where}`"
    if standing.plugin is None:
        problem = standing.problem
        state = tr("skipped: {why}", why=problem) if problem else tr("loading…")
        return f"{name}: {state}"
    tools = ", ".join(tool.name for tool in standing.plugin.tools)
    commands = ", ".join(f"/{command.name}" for command in standing.plugin.commands)
    brought = "; ".join(part for part in (tools, commands) if part) or tr("nothing")
    return f"{name}: {brought}"


COMMAND = Command(name="plugins", help=mark("list plugins"), run=run)
