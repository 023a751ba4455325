"""`agent mcp`: lists, adds, removes and tests MCP servers."""

import argparse
import asyncio
import os
import time
from pathlib import Path
from typing import Any

from agent_cli.core.display import Display
from agent_cli.core.errors import ExitCode, UserError
from agent_cli.core.registry import Registry
from agent_cli.extension_setup import (
    PROJECT_SERVERS,
    ExtensionContext,
    configured_servers,
    servers_wanted,
)
from agent_cli.extensions.mcp import config_editing
from agent_cli.extensions.mcp.approved_servers import ApprovedServers
from agent_cli.extensions.mcp.mcp_servers import Servers
from agent_cli.extensions.mcp.spec import Configured, Server, read_servers
from agent_cli.extensions.registrar import Registrar
from agent_cli.folder import asked_here
from agent_cli.lib.cells import pad
from agent_cli.lib.language import tr
from agent_cli.lib.text import join_items
from agent_cli.safety.reasons import Reason, in_words
from agent_cli.safety.sanitise import visible
from agent_cli.safety.terminal import write_out
from agent_cli.subcommands._printing import confirm, say, warn


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The commands of `agent mcp`."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser("list", help=tr("list servers and whether they are approved"))
    add = actions.add_parser("add", help=tr("add a server, review it and approve it"))
    add.add_argument("name", metavar="NAME")
    for flag, words in (
        ("--env", tr("environment variable for the server; ${NAME} inserts one of yours")),
        ("--header", tr("HTTP header for a remote server")),
    ):
        add.add_argument(flag, metavar="NAME=VALUE", action="append", default=[], help=words)
    where = tr("add to {file} in this folder", file=PROJECT_SERVERS)
    add.add_argument("--project", action="store_true", help=where)
    add.add_argument("--yes", action="store_true", help=tr("approve without asking"))
    add.add_argument("reached", metavar="URL | -- COMMAND …", nargs="+")
    for name, words in (
        ("remove", tr("remove a server and its approval")),
        ("test", tr("connect to a server and list its tools")),
        ("approve", tr("review and approve a new or changed server")),
        ("login", tr("sign in to a remote server")),
    ):
        one = actions.add_parser(name, help=words)
        one.add_argument("name", metavar="NAME")
        one.add_argument("--yes", action="store_true", help=tr("don't ask"))


def run(options: argparse.Namespace) -> int:
    """Carry out one of them."""
    asked = asked_here(os.environ)
    match options.action:
        case "list":
            return _list(asked)
        case "add":
            return _add(asked, options)
        case "remove":
            return _remove(asked, _find(asked, options.name))
        case action:
            server = _find(asked, options.name)
            return asyncio.run(_Trial(asked, asks=not options.yes).carry_out(action, server))


def _list(asked: ExtensionContext) -> int:
    found, pins = _read_servers(asked), _pins(asked)
    for server in found.servers:
        link = server.table.url or server.command_line
        say(f"{server.name:<20}  {pad(_standing(pins, server), 14)}  {link}")
        say(f"{'':<38}{server.source}")
    if not found.servers:
        say(tr("No MCP servers. Add one with `agent mcp add NAME -- COMMAND`."))
    return ExitCode.DONE


def _standing(pins: ApprovedServers, server: Server) -> str:
    pin = pins.get(server)
    if pin is None:
        return tr("not approved")
    return tr("approved") if pin.launch == server.launch else tr("changed")


def _add(asked: ExtensionContext, options: argparse.Namespace) -> int:
    table = _table(options)
    path = asked.folder / PROJECT_SERVERS if options.project else asked.places.config_file
    tried = read_servers({str(path): {options.name: table}}, str(asked.folder))
    if tried.problems:
        raise UserError(tried.problems[0])
    try:
        (config_editing.add_to_json if options.project else config_editing.add_to_toml)(
            path, options.name, table
        )
    except OSError as error:
        raise _not_written(path, error) from error
    say(tr("Added {name} to {path}.", name=options.name, path=path))
    if options.project and not asked.trusted:
        say(tr("This folder isn't trusted with this change. Review it with `agent trust`."))
        return ExitCode.DONE
    trial = _Trial(asked, asks=not options.yes)
    return asyncio.run(trial.carry_out("approve", tried.servers[0]))


def _table(options: argparse.Namespace) -> dict[str, Any]:
    reached: list[str] = options.reached
    if len(reached) == 1 and "://" in reached[0]:
        return {"url": reached[0], "headers": _pairs(options.header)}
    return {"command": reached[0], "args": reached[1:], "env": _pairs(options.env)}


def _pairs(given: list[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    if wrong := [text for text, pair in zip(given, pairs, strict=True) if not pair[1]]:
        raise UserError(tr("{text!r} is not NAME=VALUE.", text=wrong[0]))
    return {name: value for name, _, value in pairs}


def _remove(asked: ExtensionContext, server: Server) -> int:
    path = Path(server.source)
    edit = (
        config_editing.remove_from_json
        if path.suffix == ".json"
        else config_editing.remove_from_toml
    )
    try:
        edit(path, server.name)
        _pins(asked).forget(server)
    except OSError as error:
        raise _not_written(path, error) from error
    say(tr("Removed {name} from {path}.", name=server.name, path=path))
    return ExitCode.DONE


def _not_written(path: Path, error: OSError) -> UserError:
    return UserError(tr("Can't write {path}: {error}.", path=path, error=error.strerror))


class _Trial:
    """One server, connected for whoever is at this terminal."""

    def __init__(self, asked: ExtensionContext, *, asks: bool) -> None:
        self._asks = asks
        wanted = servers_wanted(asked)
        if wanted is None:
            raise UserError(tr("MCP servers are disabled (mcp.enabled in the configuration)."))
        self._servers = Servers(
            wanted, Registrar(Registry(), _complain), self, lambda text, hint: warn(text)
        )

    async def carry_out(self, action: str, server: Server) -> int:
        """Do it, and say how it went."""
        try:
            if action == "login":
                say(await self._servers.sign_in(server, lambda url: say(tr("Sign in at:"), url)))
                return ExitCode.DONE
            started = time.monotonic()
            say(await self._servers.approve(server))
            row = self._servers.row_of(server)
            if row.state != "ready":
                return ExitCode.FAILED
            if action == "test":
                say(*(f"  {name}" for name in row.tools))
                took = time.monotonic() - started
                say(tr("Answered in {seconds:.1f} s.", seconds=took))
            return ExitCode.DONE
        finally:
            await self._servers.close()

    async def agrees(
        self, what: str, preview: Display, reasons: tuple[Reason, ...], odd: tuple[Reason, ...] = ()
    ) -> bool:
        """Show everything, and ask on the terminal; anything but a clear yes is a no."""
        text = str(getattr(preview, "text", ""))
        write_out("".join(f"  {line}\n" for line in visible(text).split("\n")))
        for warning in odd:
            say(tr("Warning: {warning}.", warning=in_words(warning)))
        say(tr("Needs approval: {reasons}.", reasons=join_items(map(in_words, reasons))))
        if not self._asks:
            return True
        asked = tr("Allow {what}?", what=visible(what, one_line=True))
        cannot = tr("Can't ask: this is not a terminal.")
        hint = tr("Review what is shown above, then add --yes.")
        return await asyncio.to_thread(confirm, f"{asked} [y/N] ", cannot, hint)


def _read_servers(asked: ExtensionContext) -> Configured:
    found = configured_servers(asked)
    warn(*found.problems)
    return found


def _find(asked: ExtensionContext, name: str) -> Server:
    servers = {server.name: server for server in _read_servers(asked).servers}
    if name not in servers:
        there = ", ".join(servers) or tr("none")
        hint = tr("Available: {names}.", names=there)
        raise UserError(tr("No MCP server named {name}.", name=name), hint=hint)
    return servers[name]


def _pins(asked: ExtensionContext) -> ApprovedServers:
    return ApprovedServers(asked.places.state / "mcp" / "approved")


def _complain(text: str, hint: str) -> None:
    warn(*filter(None, (text, hint)))
