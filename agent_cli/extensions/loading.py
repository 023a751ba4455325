"""Finds plugins and makes values of them: tool files and packages."""

from __future__ import annotations

import linecache
import os
import sys
import traceback
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from agent_cli.core.extension_protocol import SlashCommand
from agent_cli.core.tool import AnyTool
from agent_cli.extensions.decorator import tool_of
from agent_cli.extensions.hook_definition import Hook
from agent_cli.extensions.plugin import Plugin
from agent_cli.lib.files import open_regular
from agent_cli.lib.language import mark, tr

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "agent_cli.plugins"
"""The entry point under which a package names its plugin."""
BUILT_IN_PLUGINS = ("web", "sql")
"""The plugins that come with the program: modules beside this one that have a `plugin()`."""
SERVERS_PREFIX = "mcp__"
"""How the names of MCP servers' tools begin: a rule for a server speaks of no plugin."""
MAX_FILE_BYTES = 1_000_000
SKIPPED = ("_", ".", "test_")
"""How the names of files begin that lie beside tools and are none."""


class LoadProblem(Exception):
    """A plugin cannot be loaded; the text says where and why."""


@dataclass(frozen=True)
class Origin:
    """Where a plugin comes from."""

    name: str
    """What it is called until it says so itself; by this it is enabled and disabled."""
    kind: Literal["user", "project", "package", "built in"]
    where: str
    """A file's path, or what the package calls it."""
    entry: EntryPoint | None = None

    @property
    def stamp(self) -> tuple[int, ...]:
        """What changes when its file does; a package stays as it is while the program runs."""
        if self.entry is not None:
            return ()
        try:
            found = Path(self.where).stat()
        except OSError:
            return (0,)
        return (found.st_mtime_ns, found.st_size, found.st_ino)

    def load(self) -> Plugin:
        """The plugin; raises LoadProblem. It runs the plugin's code, which may block."""
        plugin = self._load()
        for tool in plugin.tools:
            if tool.name.lower().startswith(SERVERS_PREFIX):
                text = mark("{where}: {tool} is a name reserved for MCP tools")
                raise LoadProblem(tr(text, where=self.where, tool=tool.name))
        return plugin

    def _load(self) -> Plugin:
        if self.entry is not None:
            return _from_package(self.entry)
        if not self.where.endswith(".py"):
            raise LoadProblem(tr("{where}: symbolic links are not followed", where=self.where))
        return load_file(Path(self.where))


def files_in(directory: Path, kind: Literal["user", "project"]) -> Iterator[Origin]:
    """The tool files of a directory, by name.

    A project's lie where trust looked at them: a link would lead to files that nobody was shown.
    """
    if kind == "project" and (directory.is_symlink() or directory.parent.is_symlink()):
        yield Origin(directory.name, kind, str(directory))
        return
    try:
        names = sorted(os.listdir(directory))  # noqa: PTH208 (names)
    except OSError:
        return
    for name in names:
        if name.endswith(".py") and not name.startswith(SKIPPED):
            yield Origin(name.removesuffix(".py"), kind, str(directory / name))


def packages() -> Iterator[Origin]:
    """The installed packages that are plugins."""
    from importlib.metadata import entry_points  # noqa: PLC0415 (slow, and never before a prompt)

    for entry in sorted(entry_points(group=GROUP), key=lambda each: each.name):
        package = entry.dist.name if entry.dist is not None else entry.module
        where = tr("package {package} ({entry})", package=package, entry=entry.value)
        yield Origin(entry.name, "package", where, entry)


def find_built_in(names: Collection[str]) -> Iterator[Origin]:
    """Those of our own plugins that are wanted; they come in as any package's do."""
    from importlib.metadata import EntryPoint  # noqa: PLC0415 (as above)

    for name in BUILT_IN_PLUGINS:
        if name in names:
            entry = EntryPoint(name, f"agent_cli.extensions.{name}:plugin", GROUP)
            where = tr("built in, {module}", module=entry.module)
            yield Origin(name, "built in", where, entry)


def load_file(path: Path) -> Plugin:
    """The plugin that a tool file is: its PLUGIN, or its tools and commands."""
    name = f"agent_tools.{sha256(str(path).encode()).hexdigest()[:8]}.{path.stem}"
    module = ModuleType(name)
    module.__file__ = str(path)
    linecache.checkcache(str(path))
    sys.modules[name] = module  # where types and dataclasses look their own module up
    try:
        # Nothing is written beside the file: a cache there would count as a change of the folder.
        exec(compile(_source(path), str(path), "exec"), module.__dict__)
        return _plugin_in(module, path.stem)
    except LoadProblem:
        raise
    except BaseException as error:  # whatever a file does while it is loaded
        raise LoadProblem(_describe(error, str(path))) from error


def forget_file(path: str) -> None:
    """Drop the module of a tool file."""
    for name, module in tuple(sys.modules.items()):
        if name.startswith("agent_tools.") and getattr(module, "__file__", None) == path:
            del sys.modules[name]


def _source(path: Path) -> bytes:
    with os.fdopen(open_regular(path), "rb") as file:
        data = file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise LoadProblem(tr("{path}: larger than {most:,} bytes", path=path, most=MAX_FILE_BYTES))
    return data


def _plugin_in(module: ModuleType, name: str) -> Plugin:
    given = vars(module)
    if "PLUGIN" in given:
        return _check(given["PLUGIN"], f"{module.__file__}: PLUGIN")
    tools: dict[str, AnyTool] = {}
    for value in given.values():
        if (tool := tool_of(value)) is not None:
            tools.setdefault(tool.name, tool)
    commands = [value for value in given.values() if isinstance(value, SlashCommand)]
    hooks = [value for value in given.values() if isinstance(value, Hook)]
    if not tools and not commands and not hooks:
        raise LoadProblem(
            tr("{where}: no TOOL, @tool function or PLUGIN found", where=module.__file__)
        )
    version = str(given.get("__version__", ""))
    words = (module.__doc__ or "").strip().split("\n", 1)[0]
    return Plugin(
        name=name,
        version=version,
        description=words,
        tools=tuple(tools.values()),
        commands=tuple(commands),
        hooks=tuple(hooks),
    )


def _from_package(entry: EntryPoint) -> Plugin:
    try:
        value: Any = entry.load()
        if callable(value) and not isinstance(value, Plugin):
            value = value()
    except BaseException as error:  # whatever a package does while it is loaded
        raise LoadProblem(_describe(error, None)) from error
    return _check(value, entry.value)


def _check(value: Any, where: str) -> Plugin:
    if not isinstance(value, Plugin):
        kind = type(value).__name__
        raise LoadProblem(tr("{where}: expected a Plugin, found a {kind}", where=where, kind=kind))
    tools = [tool_of(each) for each in value.tools]
    if None in tools:
        raise LoadProblem(tr("{where}: one of its tools is not a Tool", where=where))
    return replace(
        value,
        name=str(value.name),
        version=str(value.version),
        description=str(value.description),
        tools=tuple(tool for tool in tools if tool is not None),
        commands=tuple(value.commands),
        hooks=tuple(hook for hook in value.hooks if isinstance(hook, Hook)),
    )


def _describe(error: BaseException, file: str | None) -> str:
    """File and line, then what went wrong; the line is the plugin's own where it can be told."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == file]
    if isinstance(error, SyntaxError) and error.filename:
        place, what = f"{error.filename}:{error.lineno}", error.msg
    else:
        last = own[-1] if own else frames[-1]
        place, what = f"{last.filename}:{last.lineno}", str(error)
        if not own and file is not None:
            place = file
    return tr("{place}: {kind}: {what}", place=place, kind=type(error).__name__, what=what)
