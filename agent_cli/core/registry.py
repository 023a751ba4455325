"""The tools of a session: found by name, listed for the model, added and removed while it runs."""

import difflib
import threading
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from agent_cli.core.errors import FailureType, ToolFailure, UserError
from agent_cli.core.tool import HARMLESS, AnyTool, ToolKind
from agent_cli.lib.language import mark, tr


@dataclass(frozen=True)
class RegistryChange:
    """What happened to a tool, for whoever listens."""

    what: Literal["registered", "replaced", "unregistered"]
    tool: AnyTool
    source: str


@dataclass(frozen=True)
class Selection:
    """Which tools a profile, mode and role may use."""

    names: Collection[str] | Literal["all"] = "all"
    read_only: bool = False
    role: str | None = None
    mode: str | None = None
    """The permission mode; None: only what is offered in all of them."""
    without: frozenset[str] = frozenset()
    """Categories of tools that are left out."""

    def admits(self, tool: AnyTool) -> bool:
        """Whether the tool may be offered and used."""
        return (
            tool.is_enabled()
            and (self.names == "all" or tool.name in self.names)
            and tool.category not in self.without
            and (tool.kind in HARMLESS or not self.read_only or self._is_held_to_reading(tool))
            and (not tool.modes or self.mode in tool.modes)
            and (tool.role is None or tool.role == self.role)
        )

    def _is_held_to_reading(self, tool: AnyTool) -> bool:
        """In plan mode a command runs only if it is proven to change nothing."""
        return tool.runs_in_shell and self.mode == "plan"


DEFAULT_SELECTION = Selection()
"""What is offered in every mode and needs no role."""


class Registry:
    """Tools by name. Reading takes no lock: a change replaces the dictionaries as a whole."""

    def __init__(self) -> None:
        self._tools: dict[str, AnyTool] = {}
        self._sources: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._lock = threading.Lock()
        self._listeners: list[Callable[[RegistryChange], None]] = []

    def register(
        self,
        tool: AnyTool,
        *,
        source: str = mark("built in"),
        on_conflict: Literal["replace", "error"] = "replace",
    ) -> None:
        """Add a tool. The same name replaces, unless the source must not shadow others."""
        with self._lock:
            taken = self._tools.get(tool.name)
            if on_conflict == "error":
                self._refuse_clash(tool, source)
            self._put({**self._tools, tool.name: tool}, {**self._sources, tool.name: source})
        self._tell(RegistryChange("replaced" if taken else "registered", tool, source))

    def unregister(self, name: str) -> bool:
        """Remove a tool by its exact name; False if there was none."""
        with self._lock:
            tool = self._tools.get(name)
            if tool is None:
                return False
            source = self._sources[name]
            self._put(
                {key: value for key, value in self._tools.items() if key != name},
                {key: value for key, value in self._sources.items() if key != name},
            )
        self._tell(RegistryChange("unregistered", tool, source))
        return True

    def listen(self, listener: Callable[[RegistryChange], None]) -> Callable[[], None]:
        """Call back on each change; returns what ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def get(self, name: str) -> AnyTool | None:
        """The tool of this name or alias, in whatever letter case, or None."""
        tool = self._tools.get(name)
        if tool is not None:
            return tool
        real = self._names.get(_plain(name))
        return self._tools.get(real) if real is not None else None

    def find(self, name: str, selection: Selection = DEFAULT_SELECTION) -> AnyTool:
        """Like `get`, but a miss is a failure that names the closest tools."""
        tool = self.get(name)
        if tool is None or not selection.admits(tool):
            offered = [t.name for t in self.select(selection)]
            near = self._nearest(name, offered)
            said = "does not exist" if tool is None else "is not available here"
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            raise ToolFailure(
                f"The tool {name[:80]!r} {said}.{hint}",
                type=FailureType.VALIDATION,
                details=f"Available tools: {', '.join(offered) or 'none'}",
            )
        return tool

    def source(self, name: str) -> str | None:
        """Where a tool came from."""
        return self._sources.get(name)

    def select(
        self,
        selection: Selection = DEFAULT_SELECTION,
        *,
        kind: ToolKind | None = None,
        category: str | None = None,
        tag: str | None = None,
        text: str | None = None,
    ) -> list[AnyTool]:
        """The tools that fit every filter given, by name."""
        return [
            tool
            for _, tool in sorted(self._tools.items())
            if selection.admits(tool)
            and (kind is None or tool.kind is kind)
            and (category is None or tool.category == category)
            and (tag is None or tag in tool.tags)
            and (text is None or text.lower() in _searchable(tool))
        ]

    def declarations(self, selection: Selection = DEFAULT_SELECTION) -> list[dict[str, Any]]:
        """What the model is sent, in an order that stays the same from request to request."""
        return [tool.declaration for tool in self.select(selection)]

    def __iter__(self) -> Iterator[AnyTool]:
        return iter([tool for _, tool in sorted(self._tools.items())])

    def __len__(self) -> int:
        return len(self._tools)

    def _refuse_clash(self, tool: AnyTool, source: str) -> None:
        """Whatever a model may have meant by the new tool's names must not be another's already."""
        for name in (tool.name, *tool.aliases):
            if (real := self._names.get(_plain(name))) is not None:
                meant = name
                if real != name:
                    meant = tr("{name} (which also means {real})", name=name, real=real)
                raise UserError(
                    tr(
                        "Two tools are named {name}: one from {one}, one from {other}.",
                        name=meant,
                        one=tr(self._sources[real]),
                        other=tr(source),
                    ),
                    hint=tr("Rename or remove one of them."),
                )

    def _put(self, tools: dict[str, AnyTool], sources: dict[str, str]) -> None:
        names: dict[str, str] = {}
        for tool in tools.values():
            for alias in tool.aliases:
                names.setdefault(_plain(alias), tool.name)
        for name in tools:  # a tool's own name beats another's alias
            names[_plain(name)] = name
        self._tools, self._sources, self._names = tools, sources, names

    def _tell(self, change: RegistryChange) -> None:
        for listener in tuple(self._listeners):
            listener(change)

    @staticmethod
    def _nearest(name: str, offered: list[str]) -> list[str]:
        by_plain = {_plain(each): each for each in offered}
        return [by_plain[hit] for hit in difflib.get_close_matches(_plain(name), by_plain, 3, 0.5)]


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").replace(" ", "").lower()


def _searchable(tool: AnyTool) -> str:
    words = (tool.name, tool.display_name, tool.category, *tool.tags, tool.description.for_model)
    return " ".join(words).lower()
