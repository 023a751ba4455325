"""The plugins of a session: loaded, loaded again when they change, unloaded."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agent_cli.core.extension_protocol import SlashCommand
from agent_cli.extensions.disabled import Disabled
from agent_cli.extensions.loading import (
    LoadProblem,
    Origin,
    files_in,
    find_built_in,
    forget_file,
    packages,
)
from agent_cli.extensions.plugin import Plugin, PluginContext
from agent_cli.extensions.registrar import Registrar
from agent_cli.extensions.session_hooks import SessionHooks
from agent_cli.lib.language import mark, tr, trn
from agent_cli.lib.text import join_items
from agent_cli.lib.threads import in_own_thread

log = logging.getLogger(__name__)

LOAD_TIMEOUT_S = 20.0
"""Seconds for importing one plugin, and again for initialising it."""
CLEAN_UP_TIMEOUT_S = 5.0
LOOK_EVERY_S = 1.0
"""Seconds between two looks at the files, where that is wished."""


@dataclass(frozen=True, kw_only=True)
class PluginSources:
    """Where plugins come from and what they are given."""

    user: Path
    project: Path | None
    """The project's tools; None while the folder is not trusted."""
    workspace: Path
    state: Path
    """Where we and they keep things."""
    built_in: frozenset[str] = frozenset()
    """Our own that are wanted."""
    packages: bool = True
    disabled: frozenset[str] = frozenset()
    """Switched off by the configuration."""
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def switched_off(self) -> Disabled:
        """What the user switched off for good."""
        return Disabled(self.state / "disabled-plugins.json")

    def origins(self) -> Iterable[Origin]:
        """Every plugin there is, whether it is switched on or not; it looks at the disk."""
        yield from find_built_in(self.built_in)
        if self.packages:
            yield from packages()
        yield from files_in(self.user, "user")
        if self.project is not None:
            yield from files_in(self.project, "project")

    def list_enabled(self) -> list[Origin]:
        """Those that are switched on."""
        off = self.disabled | self.switched_off.names()
        return [origin for origin in self.origins() if origin.name not in off]


@dataclass
class PluginStatus:
    """One plugin and how it stands."""

    origin: Origin
    stamp: tuple[int, ...]
    plugin: Plugin | None = None
    problem: str = ""

    @property
    def source(self) -> str:
        """What the registry calls it."""
        return tr("plugin {name} ({where})", name=self.origin.name, where=self.origin.where)


class Plugins:
    """Loads and unloads; whatever a plugin does wrong is told and stays its own problem."""

    def __init__(
        self,
        places: PluginSources,
        registrar: Registrar,
        tell: Callable[[str, str], None],
        hooks: SessionHooks,
    ) -> None:
        self._hooks = hooks
        self._places = places
        self._registrar = registrar
        self._tell = tell
        self._standings: dict[str, PluginStatus] = {}
        self._lock = asyncio.Lock()

    @property
    def standings(self) -> tuple[PluginStatus, ...]:
        """Every plugin that was tried."""
        return tuple(self._standings.values())

    @property
    def commands(self) -> tuple[SlashCommand, ...]:
        """The slash commands of all; of two with one name the first counts."""
        found: dict[str, SlashCommand] = {}
        for standing in self.standings:
            for command in standing.plugin.commands if standing.plugin else ():
                found.setdefault(command.name, command)
        return tuple(found.values())

    async def load(self, *, project: bool = True) -> str:
        """Bring what is loaded in line with what is there; says what that changed.

        Without `project`, nothing new comes from the project; what is gone leaves all the same.
        """
        async with self._lock:
            origins = {each.where: each for each in await in_own_thread(self._places.list_enabled)}
            gone = [
                standing
                for where, standing in self._standings.items()
                if where not in origins
                or (
                    origins[where].stamp != standing.stamp
                    and (project or standing.origin.kind != "project")
                )
            ]
            for standing in gone:
                await self._unload(standing)
            fresh = [
                PluginStatus(origin, origin.stamp)
                for where, origin in origins.items()
                if where not in self._standings and (project or origin.kind != "project")
            ]
            for standing in fresh:  # their place, in the order they were found in
                self._standings[standing.origin.where] = standing
            # Ours first: nobody else takes the name of one of our tools by being quicker.
            ours = [standing for standing in fresh if standing.origin.kind == "built in"]
            for each in (ours, [standing for standing in fresh if standing not in ours]):
                await asyncio.gather(*map(self._load, each))
            return _describe_change(gone, fresh)

    def has_changed(self) -> bool:
        """Whether `load` would find something to do; it looks at the disk."""
        now = {origin.where: origin.stamp for origin in self._places.list_enabled()}
        return now != {where: standing.stamp for where, standing in self._standings.items()}

    async def close(self) -> None:
        """Unload all, last loaded first."""
        async with self._lock:
            for standing in reversed(self.standings):
                await self._unload(standing)

    async def _load(self, standing: PluginStatus) -> None:
        origin = standing.origin
        try:
            late = tr("it took longer than {seconds:g} s to load", seconds=LOAD_TIMEOUT_S)
            plugin = await _within(LOAD_TIMEOUT_S, in_own_thread(origin.load), late)
            if plugin.initialize is not None:
                late = tr("it took longer than {seconds:g} s to start", seconds=LOAD_TIMEOUT_S)
                await _within(LOAD_TIMEOUT_S, plugin.initialize(self._context(plugin)), late)
        except Exception as error:  # a plugin's own: what it raises is its problem alone
            kind = "" if isinstance(error, LoadProblem) else f"{type(error).__name__}: "
            standing.problem = problem = f"{kind}{error}"
            log.warning("plugin %s: %s", origin.where, problem)
            self._tell(
                tr("Skipped the plugin {name}: {problem}", name=origin.name, problem=problem),
                tr("Fix it, then run /reload."),
            )
            return
        standing.plugin = plugin
        self._registrar.offer(standing.source, plugin.tools)
        unnamed = tr("from {plugin}", plugin=origin.name)
        named = [replace(hook, name=hook.name or unnamed) for hook in plugin.hooks]
        self._hooks.offer(standing.source, named)

    async def _unload(self, standing: PluginStatus) -> None:
        del self._standings[standing.origin.where]
        self._registrar.offer(standing.source, ())
        self._hooks.offer(standing.source, ())
        plugin = standing.plugin
        if plugin is not None and plugin.cleanup is not None:
            try:
                late = tr(
                    "it took longer than {seconds:g} s to clean up", seconds=CLEAN_UP_TIMEOUT_S
                )
                await _within(CLEAN_UP_TIMEOUT_S, plugin.cleanup(), late)
            except Exception as error:  # as above
                text = mark("The plugin {name} did not shut down cleanly: {error}")
                self._tell(tr(text, name=plugin.name, error=error), "")
        forget_file(standing.origin.where)

    def _context(self, plugin: Plugin) -> PluginContext:
        return PluginContext(
            workspace=self._places.workspace,
            data=self._places.state / "plugins" / plugin.name.replace("/", "_").lstrip("."),
            settings=self._places.settings.get(plugin.name, {}),
            tell=lambda text: self._tell(f"{plugin.name}: {text}", ""),
        )


async def _within(seconds: float, work: Any, late: str) -> Any:
    try:
        async with asyncio.timeout(seconds):
            return await work
    except TimeoutError as error:
        raise LoadProblem(late) from error


def _describe_change(gone: list[PluginStatus], fresh: list[PluginStatus]) -> str:
    loaded = [each for each in fresh if each.plugin]
    again = {each.origin.where for each in gone} & {each.origin.where for each in fresh}
    tools = sum(len(each.plugin.tools) for each in loaded if each.plugin)
    parts = []
    if loaded:
        names = ", ".join(each.origin.name for each in loaded)
        count = trn("{n:,} tool", "{n:,} tools", tools)
        parts.append(tr("loaded {names} ({count})", names=names, count=count))
    if left := [each.origin.name for each in gone if each.origin.where not in again]:
        parts.append(tr("removed {names}", names=", ".join(left)))
    if broken := [each.origin.name for each in fresh if each.problem]:
        parts.append(tr("skipped {names}", names=", ".join(broken)))
    return join_items(parts) if parts else ""
