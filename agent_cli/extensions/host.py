"""The extensions of a session: loads them behind the first prompt, and ends them with it."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_cli.core.deciding.trust_items import TrustItem
from agent_cli.core.display import TextBlock
from agent_cli.core.events import Event, Notice
from agent_cli.core.extension_protocol import AnySlashCommand
from agent_cli.core.inbox import Inbox
from agent_cli.core.registry import Registry
from agent_cli.extensions.inbox_asker import InboxAsker
from agent_cli.extensions.mcp.mcp_servers import Servers, ServersWanted
from agent_cli.extensions.project_trust import Keep, ProjectTrust
from agent_cli.extensions.prompt_files import PromptFiles, PromptFolders
from agent_cli.extensions.registrar import Registrar
from agent_cli.extensions.session_hooks import SessionHooks
from agent_cli.extensions.session_plugins import LOOK_EVERY_S, Plugins, PluginSources
from agent_cli.lib.language import tr
from agent_cli.lib.text import join_items
from agent_cli.lib.threads import in_own_thread
from agent_cli.safety.reasons import quote_value

log = logging.getLogger(__name__)

MAX_SHOWN_CHARS = 100_000
"""Characters of changed files; more cannot be judged by looking at it."""


@dataclass(frozen=True, kw_only=True)
class WantedExtensions:
    """Which extensions a session is to have."""

    plugins: PluginSources | None
    servers: ServersWanted | None
    writings: PromptFolders = PromptFolders()
    """Where commands and skills lie."""
    watch: bool = False
    """Whether changed tool files are loaded again by themselves."""
    keep_trust: Keep = lambda _items: None
    """Stores what the user agreed to in the project's folder."""
    own_settings: Path | None = None
    """The user's configuration, whose hooks may run scripts of the project."""


class Host:
    """Implements `core.extension_protocol.Extensions`."""

    def __init__(
        self,
        wanted: WantedExtensions,
        registry: Registry,
        inbox: Inbox,
        hooks: SessionHooks | None = None,
    ) -> None:
        self._wanted = wanted
        self._person = InboxAsker(inbox)
        self._registrar = Registrar(registry, self.warn)
        self._trust: ProjectTrust | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._settled = asyncio.Event()
        self._is_started = False
        self.plugins = (
            Plugins(wanted.plugins, self._registrar, self.warn, hooks or SessionHooks({}))
            if wanted.plugins
            else None
        )
        self.servers = (
            Servers(wanted.servers, self._registrar, self._person, self.warn)
            if wanted.servers
            else None
        )

        self.writings = PromptFiles(wanted.writings, self._registrar, self.warn)

    @property
    def commands(self) -> tuple[AnySlashCommand, ...]:
        """The slash commands that plugins and files bring; of two with one name the first."""
        brought: tuple[AnySlashCommand, ...] = self.plugins.commands if self.plugins else ()
        found: dict[str, AnySlashCommand] = {}
        for command in (*brought, *self.writings.commands):
            found.setdefault(command.name, command)
        return tuple(found.values())

    def start(self, tell: Callable[[Event], None], is_busy: Callable[[], bool]) -> None:
        """Begin to load; what arrives during a turn is let in before the next."""
        if self._is_started:
            return
        self._is_started = True
        self._person.tell = tell
        self._registrar.is_busy = is_busy
        self.background(self._begin())

    async def wait_ready(self, seconds: float) -> None:
        """Wait until all have arrived or failed, but no longer than this."""
        try:
            async with asyncio.timeout(seconds):
                await self._settled.wait()
        except TimeoutError:
            self.warn(tr("Some extensions did not load within {seconds:g} s.", seconds=seconds))

    def turn_begins(self) -> None:
        """Let in what arrived since the last turn began."""
        self._registrar.flush()

    def background(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something beside everything else; a fault in it is logged and told."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_end)

    async def reload(self) -> str:
        """Load what is new or changed; a project's changed files only after a look at them."""
        if self.servers is not None:
            await self.servers.start()
        project = await self._may_load_project()
        said = [await self.plugins.load(project=project)] if self.plugins is not None else []
        said.append(await self.writings.load(project=project))
        return join_items(filter(None, said)) if any(said) else ""

    async def close(self) -> None:
        """Unload everything; nothing is told any more."""
        self._person.tell = lambda _event: None
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self.servers is not None:
            await self.servers.close()
        if self.plugins is not None:
            await self.plugins.close()

    def warn(self, text: str, hint: str = "") -> None:
        """Tell the user that something is wrong."""
        self._person.tell(Notice(level="warning", text=text, hint=hint))

    async def _begin(self) -> None:
        """Plugins and servers side by side: neither waits for the other."""
        works: list[Coroutine[Any, Any, Any]] = [self.writings.load()]
        if self.plugins is not None:
            works.append(self._load_plugins(self.plugins))
        if self.servers is not None:
            works.append(self._connect(self.servers))
        try:
            for error in await asyncio.gather(*works, return_exceptions=True):
                if isinstance(error, Exception):
                    self._on_failure(error)
        finally:
            self._settled.set()
        if self._wanted.watch and self.plugins is not None:
            await self._watch(self.plugins)

    async def _load_plugins(self, plugins: Plugins) -> None:
        wanted, places = self._wanted, self._wanted.plugins
        if places is not None and places.project is not None:
            self._trust = await in_own_thread(
                lambda: ProjectTrust(places.workspace, wanted.keep_trust, wanted.own_settings)
            )
        await plugins.load()

    async def _connect(self, servers: Servers) -> None:
        await servers.start()
        await servers.wait_ready()

    async def _watch(self, plugins: Plugins) -> None:
        told: tuple[TrustItem, ...] = ()
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            if not await in_own_thread(plugins.has_changed):
                continue
            changed = await self._changed_in_project()
            if changed and changed != told:
                names = ", ".join(item.path for item in changed)
                self.warn(
                    tr("{names} changed since you trusted it.", names=names),
                    tr("/reload shows the changes."),
                )
            told = changed
            if said := await plugins.load(project=not changed):
                self._person.tell(Notice(text=tr("{what}.", what=said[:1].upper() + said[1:])))

    async def _changed_in_project(self) -> tuple[TrustItem, ...]:
        trust, places = self._trust, self._wanted.plugins
        if trust is None or places is None or places.project is None:
            return ()
        written = (*self._wanted.writings.commands, *self._wanted.writings.skills)
        own = [places.project, *(folder.path for folder in written if not folder.is_users)]
        return await in_own_thread(lambda: trust.find_changed(own))

    async def _may_load_project(self) -> bool:
        """Whether the project's files are as trusted, or the user agrees to them now."""
        changed = await self._changed_in_project()
        if not changed:
            return True
        shown = await in_own_thread(
            lambda: "\n\n".join(_read_preview(item.path) for item in changed)
        )
        if len(shown) > MAX_SHOWN_CHARS:
            self.warn(tr("More project files changed than can be shown."), tr("See `agent trust`."))
            return False
        reasons = (tr("these files changed since you trusted the folder"), tr("tools run as code"))
        if not await self._person.agrees(
            tr("the project's changed files"),
            TextBlock(text=shown, language="python"),
            tuple(map(quote_value, reasons)),
        ):
            return False
        if await self._changed_in_project() != changed:
            self.warn(
                tr("The files changed again while you were looking."),
                tr("/reload shows them again."),
            )
            return False
        assert self._trust is not None
        try:
            self._trust.accept(changed)
        except OSError as error:
            self.warn(
                tr(
                    "Your answer applies to this session only: it could not be saved ({error}).",
                    error=error,
                )
            )
        return not await self._changed_in_project()

    def _on_end(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._on_failure(error)

    def _on_failure(self, error: BaseException) -> None:
        log.error("an extension's work failed", exc_info=error)
        what = f"{type(error).__name__}: {error}"
        self.warn(tr("An extension failed ({error}).", error=what), tr("See the log."))


def _read_preview(path: str) -> str:
    try:
        text = Path(path).read_bytes()[: MAX_SHOWN_CHARS + 1].decode("utf-8", "replace")
    except OSError as error:
        text = f"({error})"
    return f"# {path}\n{text}"
