"""Shows and reloads extensions: hooks and plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import slash_command
from agent_cli.extension_setup import hooks_of, host_of
from agent_cli.lib.language import mark, tr
from agent_cli.safety.sanitise import visible

if TYPE_CHECKING:
    from agent_cli.extensions.hook_definition import Hook
    from agent_cli.extensions.session_plugins import PluginStatus


@slash_command("hooks", mark("list hooks"))
def list_hooks(controller: Controller, argument: str) -> None:
    """Each hook with its moment."""
    rows = "\n".join(map(describe_hook, hooks_of(controller.session)))
    controller.view.say(
        rows or tr("There are no hooks. `[[hooks]]` in the configuration adds one.")
    )


def describe_hook(hook: Hook) -> str:
    about = f" ({', '.join(hook.tools)})" if hook.tools else ""
    timeout = tr("timeout {seconds:g} s", seconds=hook.timeout)
    return visible(f"- **{hook.on}**{about}: {hook.name}, {timeout}", one_line=True)


@slash_command("plugins", mark("list plugins"))
def list_plugins(controller: Controller, argument: str) -> None:
    """Each plugin with its tools, or why it was skipped."""
    host = host_of(controller.session)
    plugins = host.plugins if host is not None else None
    standings = plugins.standings if plugins is not None else ()
    controller.view.say("\n".join(map(_describe_plugin, standings)) or tr("There are no plugins."))


def _describe_plugin(standing: PluginStatus) -> str:
    name = f"- **{standing.origin.name}** `{standing.origin.where}`"
    if standing.plugin is None:
        problem = standing.problem
        state = tr("skipped: {why}", why=problem) if problem else tr("loading…")
        return f"{name}: {state}"
    tools = ", ".join(tool.name for tool in standing.plugin.tools)
    commands = ", ".join(f"/{command.name}" for command in standing.plugin.commands)
    brought = "; ".join(part for part in (tools, commands) if part) or tr("nothing")
    return f"{name}: {brought}"


@slash_command("reload", mark("reload changed tools, commands and skills"))
async def reload(controller: Controller, argument: str) -> None:
    """Look for changes, and say what was found."""
    host = host_of(controller.session)
    if host is None:
        controller.warn(tr("Extensions are not loaded yet."), tr("Try again in a moment."))
        return
    changes = await host.reload()
    controller.view.say(
        f"{changes[:1].upper()}{changes[1:]}." if changes else tr("Nothing has changed.")
    )
