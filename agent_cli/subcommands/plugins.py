"""`agent plugins`: lists, enables and disables your own tools and commands."""

import argparse
import os
from collections.abc import Iterator

from agent_cli.core.errors import ExitCode, UserError
from agent_cli.extension_setup import plugin_places
from agent_cli.extensions.loading import LoadProblem, Origin
from agent_cli.extensions.plugin import Plugin
from agent_cli.extensions.session_plugins import PluginSources
from agent_cli.folder import asked_here
from agent_cli.lib.cells import pad
from agent_cli.lib.language import tr
from agent_cli.subcommands._printing import say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The commands of `agent plugins`."""
    commands = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    commands.add_parser("list", help=tr("list plugins and their tools"))
    for name, words in (
        ("info", tr("show details of a plugin")),
        ("enable", tr("enable a plugin")),
        ("disable", tr("disable a plugin")),
    ):
        commands.add_parser(name, help=words).add_argument("name", metavar="NAME")


def run(options: argparse.Namespace) -> int:
    """Carry out one of them."""
    known = plugin_places(asked_here(os.environ))
    if known is None:
        raise UserError(tr("Plugins are disabled (plugins.enabled in the configuration)."))
    match options.action:
        case "list":
            return _list(known)
        case "info":
            return _info(known, options.name)
        case _:
            return _switch(known, options.name, on=options.action == "enable")


def _list(known: PluginSources) -> int:
    off = known.disabled | known.switched_off.names()
    rows = [
        f"{origin.name:<20}  {pad(_state(origin, off), 60)}  {origin.where}"
        for origin in known.origins()
    ]
    none = tr("No plugins. `agent new tool NAME` creates one in {folder}.", folder=known.user)
    say(*(rows or [none]))
    return ExitCode.DONE


def _state(origin: Origin, off: frozenset[str]) -> str:
    if origin.name in off:
        return tr("disabled")
    try:
        plugin = origin.load()
    except LoadProblem as problem:
        return tr("broken: {problem}", problem=problem)
    commands = (f"/{command.name}" for command in plugin.commands)
    return ", ".join([*(tool.name for tool in plugin.tools), *commands]) or tr("nothing")


def _info(known: PluginSources, name: str) -> int:
    origin = _find(known, name)
    try:
        plugin = origin.load()
    except LoadProblem as problem:
        said = tr("Can't load {name}: {problem}", name=name, problem=problem)
        raise UserError(said, exit_code=ExitCode.FAILED) from None
    say(*_describe(origin, plugin))
    return ExitCode.DONE


def _describe(origin: Origin, plugin: Plugin) -> Iterator[str]:
    yield f"{plugin.name} {plugin.version}".rstrip()
    if plugin.description:
        yield plugin.description
    yield tr("from {place}", place=origin.where)
    for tool in plugin.tools:
        facts = {"tool": tool.name, "kind": tool.kind.value, "about": tool.description.short}
        if tool.is_read_only and not tool.requires_permission:
            yield tr("  {tool}  ({kind}, runs without asking): {about}", **facts)
        else:
            yield tr("  {tool}  ({kind}, asks): {about}", **facts)
    for command in plugin.commands:
        yield f"  /{command.name}: {command.help}"


def _switch(known: PluginSources, name: str, *, on: bool) -> int:
    _find(known, name)
    if on and name in known.disabled:
        said = tr("{name} is disabled in the configuration (plugins.disabled).", name=name)
        raise UserError(said)
    try:
        known.switched_off.remove(name) if on else known.switched_off.add(name)
    except OSError as error:
        raise UserError(tr("Can't save that: {error}.", error=error)) from error
    if on:
        say(tr("Enabled {name}. In a running session, /reload applies it.", name=name))
    else:
        say(tr("Disabled {name}. In a running session, /reload applies it.", name=name))
    return ExitCode.DONE


def _find(known: PluginSources, name: str) -> Origin:
    origins = {origin.name: origin for origin in known.origins()}
    if name not in origins:
        there = tr("Available: {names}.", names=", ".join(origins))
        hint = there if origins else tr("There are no plugins.")
        raise UserError(tr("No plugin named {name}.", name=name), hint=hint)
    return origins[name]
