"""Shows MCP servers, and approves, reconnects and signs in to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_cli.controller.controller import Controller
from agent_cli.controller.slash_command import slash_command
from agent_cli.extension_setup import host_of
from agent_cli.lib.language import mark, tr, trn
from agent_cli.safety.sanitise import visible

if TYPE_CHECKING:
    from agent_cli.extensions.mcp.mcp_servers import ServerRow, Servers
    from agent_cli.extensions.mcp.spec import Server


ACTIONS = ("approve", "reconnect", "login", "tools")
_STATES = (
    mark("not started"),
    mark("not approved"),
    mark("connecting"),
    mark("lost"),
    mark("changed"),
    mark("sign-in"),
    mark("failed"),
    mark("closed"),
)
"""The states of a server that is not ready."""


@slash_command("mcp", mark("MCP servers and their tools"), mark("[approve|reconnect … name]"))
async def run(controller: Controller, argument: str) -> None:
    """Without an argument the list; otherwise something about one server."""
    host = host_of(controller.session)
    servers = host.servers if host is not None else None
    if host is None or servers is None:
        controller.warn(tr("MCP servers are off, or still loading."))
        return
    action, _, name = argument.partition(" ")
    if not action:
        controller.view.say(_list_servers(servers))
        return
    server = servers.find(name.strip())
    if action not in ACTIONS or server is None:
        names = ", ".join(row.server.name for row in servers.rows) or tr("none")
        controller.warn(
            f"/mcp {'|'.join(ACTIONS)} NAME", tr("The servers are: {names}.", names=names)
        )
    elif action == "tools":
        controller.view.say(_tools(servers, server))
    else:
        await _carry_out(controller, servers, server, action)


async def _carry_out(controller: Controller, servers: Servers, server: Server, action: str) -> None:
    match action:
        case "approve":
            controller.view.say(visible(await servers.approve(server)))
        case "login":
            said = await servers.sign_in(
                server, lambda url: controller.view.say(tr("Sign in at:") + f"\n\n    {url}")
            )
            controller.view.say(visible(said))
        case _:
            await servers.reconnect(server)
            controller.view.say(_list_servers(servers))


def _list_servers(servers: Servers) -> str:
    return "\n".join(map(_line, servers.rows)) or (
        tr("There are no MCP servers. `agent mcp add NAME -- COMMAND` adds one.")
    )


def _line(row: ServerRow) -> str:
    reached = row.server.table.url or row.server.command_line
    ready = row.state == "ready"
    state = trn("{n:,} tool", "{n:,} tools", len(row.tools)) if ready else tr(row.state)
    problem = f": {visible(row.problem, one_line=True)}" if row.problem else ""
    return f"- **{row.server.name}** `{visible(reached, one_line=True)}`: {state}{problem}"


def _tools(servers: Servers, server: Server) -> str:
    row = next(each for each in servers.rows if each.server == server)
    return "\n".join(f"- `{name}`" for name in row.tools) or tr(
        "{name} offers no tools now.", name=server.name
    )
