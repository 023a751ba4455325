"""Composes the extensions of a session, once it is up: settings in, plugins and servers out.

Nothing of them is imported before a frontend starts them: a prompt must not wait for their code.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_cli.config.layers import PROJECT_FILE, server_tables
from agent_cli.config.schema import Settings
from agent_cli.config.user_directories import Directories
from agent_cli.core.deciding.trust_items import COMMANDS, SKILLS, TrustItem
from agent_cli.core.errors import UserError
from agent_cli.core.events import Event, Notice
from agent_cli.core.extension_protocol import AnySlashCommand
from agent_cli.core.inbox import Inbox
from agent_cli.core.registry import Registry
from agent_cli.core.session import Session
from agent_cli.core.tool import AnyTool
from agent_cli.lib.language import tr
from agent_cli.lib.threads import in_own_thread
from agent_cli.safety.environment import child_environment, looks_secret
from agent_cli.storage.trust_store import TrustStore

if TYPE_CHECKING:
    from agent_cli.extensions.hook_definition import Hook
    from agent_cli.extensions.host import Host
    from agent_cli.extensions.mcp.links import ServerEnvironment
    from agent_cli.extensions.mcp.mcp_servers import ServersWanted
    from agent_cli.extensions.mcp.spec import Configured
    from agent_cli.extensions.prompt_files import PromptFolders
    from agent_cli.extensions.session_hooks import SessionHooks
    from agent_cli.extensions.session_plugins import PluginSources

PROJECT_TOOLS = ".agent/tools"
PROJECT_SERVERS = ".mcp.json"


@dataclass(frozen=True, kw_only=True)
class ExtensionContext:
    """What decides about the extensions of a place."""

    folder: Path
    settings: Settings
    places: Directories
    variables: Mapping[str, str]
    """All of the user's; an extension gets those that the user names."""
    trust: TrustStore
    trusted: bool


class LaterExtensions:
    """Implements `core.extensions.Extensions` before there are any."""

    def __init__(
        self, asked: ExtensionContext, registry: Registry, inbox: Inbox, hooks: SessionHooks
    ) -> None:
        self.hooks = hooks
        """What is told of the session; those that are configured are there from the start."""
        self._asked = asked
        self._registry = registry
        self._inbox = inbox
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_up = asyncio.Event()
        self.host: Host | None = None
        """The extensions themselves, when they are there."""

    @property
    def commands(self) -> tuple[AnySlashCommand, ...]:
        """The slash commands they bring."""
        return self.host.commands if self.host is not None else ()

    def start(self, tell: Callable[[Event], None], is_busy: Callable[[], bool]) -> None:
        """Begin to load, and return at once."""
        if not self._tasks and self.host is None:
            self.hooks.start(tell)
            self.background(self._begin(tell, is_busy))

    async def wait_ready(self, seconds: float) -> None:
        """Wait until all have arrived or failed, but no longer than this."""
        await self._is_up.wait()
        if self.host is not None:
            await self.host.wait_ready(seconds)

    def turn_begins(self) -> None:
        """Let in what arrived since the last turn began."""
        if self.host is not None:
            self.host.turn_begins()

    def background(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something beside everything else; it ends with the session."""
        if self.host is not None:
            self.host.background(work)
            return
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Unload everything."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self.host is not None:
            await self.host.close()

    async def _begin(self, tell: Callable[[Event], None], is_busy: Callable[[], bool]) -> None:
        try:
            host = await in_own_thread(
                lambda: make_host(self._asked, self._registry, self._inbox, self.hooks)
            )
        except Exception as error:
            text = tr("Cannot load extensions: {error}", error=error)
            tell(Notice(level="error", text=text))
            raise
        finally:
            self._is_up.set()
        self.host = host
        host.start(tell, is_busy)


def host_of(session: Session) -> Host | None:
    """The extensions of a session, if they are there by now."""
    extensions = session.extensions
    return extensions.host if isinstance(extensions, LaterExtensions) else None


def hooks_of(session: Session) -> tuple[Hook, ...]:
    """The hooks of a session, those of plugins as far as they are there by now."""
    extensions = session.extensions
    return extensions.hooks.all if isinstance(extensions, LaterExtensions) else ()


def configured_hooks(
    settings: Settings,
    session_id: str,
    workspace: str,
    environment: Mapping[str, str],
    *,
    trusted: bool,
) -> SessionHooks:
    """The hooks that the configuration names; their commands get this environment."""
    from agent_cli.extensions.hook_definition import Hook
    from agent_cli.extensions.hook_runner import pinned_function
    from agent_cli.extensions.session_hooks import SessionHooks

    hooks = [
        Hook(
            on=each.on,
            run=pinned_function(each.command, workspace, environment, trusted=trusted),
            tools=each.tools,
            timeout=each.timeout,
            name=f"`{each.command[:80]}`",
        )
        for each in settings.hooks
    ]
    return SessionHooks({"session": session_id, "workspace": workspace}, hooks)


def make_host(
    asked: ExtensionContext, registry: Registry, inbox: Inbox, hooks: SessionHooks | None = None
) -> Host:
    """The extensions that are asked for; importing what it takes takes a while."""
    from agent_cli.extensions.host import Host, WantedExtensions

    def keep(items: tuple[TrustItem, ...]) -> None:
        if asked.trust.standing(asked.folder).state != "untrusted":  # for more than this run
            asked.trust.trust(asked.folder, items)

    wanted = WantedExtensions(
        plugins=plugin_places(asked),
        servers=servers_wanted(asked),
        writings=writing_places(asked),
        watch=asked.settings.plugins.watch,
        keep_trust=keep,
        own_settings=asked.trust.own_settings,
    )
    return Host(wanted, registry, inbox, hooks)


def plugin_places(asked: ExtensionContext) -> PluginSources | None:
    """Where plugins come from; None: from nowhere."""
    from agent_cli.extensions.session_plugins import PluginSources

    settings = asked.settings.plugins
    if not settings.enabled:
        return None
    return PluginSources(
        user=asked.places.config / "tools",
        project=asked.folder / PROJECT_TOOLS if asked.trusted else None,
        workspace=asked.folder,
        state=asked.places.state,
        built_in=frozenset(
            name for name in ("web", "sql") if getattr(asked.settings, name).enabled
        ),
        disabled=frozenset(settings.disabled),
        settings={**settings.settings, **_own_settings(asked.settings, asked.variables)},
    )


def writing_places(asked: ExtensionContext) -> PromptFolders:
    """Where commands and skills are read from: the user's own, then a trusted project's."""
    from agent_cli.extensions.documents import Folder
    from agent_cli.extensions.prompt_files import PromptFolders

    if not asked.settings.plugins.enabled:
        return PromptFolders()

    def folders(own: str, projects: tuple[str, ...]) -> list[Folder]:
        found = [Folder(asked.places.config / own, "user")]
        if asked.trusted:
            found += [Folder(asked.folder / name, "project") for name in projects]
        return found

    return PromptFolders(commands=folders("commands", COMMANDS), skills=folders("skills", SKILLS))


def own_tools(settings: Settings, variables: Mapping[str, str]) -> Iterator[AnyTool]:
    """The tools of our own plugins, for deciding about calls of them without a session."""
    from agent_cli.extensions.sql.query import Databases, SqlSetup, query_tool
    from agent_cli.extensions.web import plugin as web

    if not settings.plugins.enabled:
        return
    if settings.web.enabled:
        yield from web().tools
    if settings.sql.enabled:
        own = _own_settings(settings, variables)["sql"]
        yield query_tool(Databases(SqlSetup.model_validate(own)))


def _own_settings(settings: Settings, variables: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """What our own plugins are told; only here are the user's variables put into addresses."""
    from agent_cli.extensions.mcp.spec import VARIABLE

    sql = settings.sql.model_dump(mode="python")
    sql["databases"] = {
        name: VARIABLE.sub(lambda found: variables.get(found[1], ""), address)
        for name, address in settings.sql.databases.items()
    }
    return {"web": settings.web.model_dump(mode="python"), "sql": sql}


def servers_wanted(asked: ExtensionContext) -> ServersWanted | None:
    """The MCP servers; None: none."""
    from agent_cli.extensions.mcp.mcp_servers import ServersWanted

    settings = asked.settings.mcp
    if not settings.enabled:
        return None
    return ServersWanted(
        configured=lambda: configured_servers(asked),
        approvals=asked.places.state / "mcp" / "approved",
        surroundings=lambda: _surroundings(asked),
        most_tools=settings.most_tools,
        start_seconds=settings.start_seconds,
        call_seconds=settings.call_seconds,
    )


def configured_servers(asked: ExtensionContext) -> Configured:
    """The MCP servers that the user's file and a trusted folder's name."""
    from agent_cli.extensions.mcp.spec import read_json, read_servers

    readers: dict[Path, Callable[[Path], dict[str, Any]]] = {
        asked.places.config_file: server_tables
    }
    if asked.trusted:
        readers[asked.folder / PROJECT_FILE] = server_tables
        readers[asked.folder / PROJECT_SERVERS] = read_json
    tables: dict[str, dict[str, Any]] = {}
    problems: list[str] = []
    for path, read in readers.items():
        try:
            tables[str(path)] = read(path)
        except (UserError, ValueError) as error:
            problems.append(tr("No MCP servers were read from there: {error}", error=error))
    found = read_servers(tables, str(asked.folder))
    return replace(found, problems=(*problems, *found.problems))


def _surroundings(asked: ExtensionContext) -> ServerEnvironment:
    from agent_cli.extensions.mcp.links import ServerEnvironment

    harmless = {
        name: value for name, value in asked.variables.items() if not looks_secret(name, value)
    }

    def environment(extra: Mapping[str, str]) -> dict[str, str]:
        return child_environment(
            harmless,
            extra=extra,
            passed=asked.settings.environment.passed,
            workspace=None if asked.trusted else str(asked.folder),
        )

    return ServerEnvironment(
        workspace=asked.folder,
        environment=environment,
        variables=asked.variables,
        tokens=asked.places.state / "mcp" / "tokens",
    )
