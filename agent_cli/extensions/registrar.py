"""Puts the tools of extensions into the registry, between turns."""

from collections.abc import Callable, Iterable

from agent_cli.core.errors import UserError
from agent_cli.core.registry import Registry
from agent_cli.core.tool import AnyTool
from agent_cli.extensions.adopting import adopt
from agent_cli.lib.language import mark, tr


class Registrar:
    """Each source says which tools it has now; what it had and no longer names leaves.

    While a turn is under way changes wait: a request that begins otherwise than the one before it
    is paid for in full again.
    """

    def __init__(self, registry: Registry, complain: Callable[[str, str], None]) -> None:
        self._registry = registry
        self._complain = complain
        self._wanted: dict[str, tuple[AnyTool, ...]] = {}
        self._present: dict[str, dict[str, AnyTool]] = {}
        """By source: what was asked for, by name; registered is what was adopted of it."""
        self.is_busy: Callable[[], bool] = lambda: False

    def offer(self, source: str, tools: Iterable[AnyTool]) -> None:
        """From now on, or from the next turn on, these are the source's tools."""
        self._wanted[source] = tuple(tools)
        if not self.is_busy():
            self.flush()

    def flush(self) -> None:
        """Carry out what waits: first everything leaves that has to, then the new comes."""
        waiting, self._wanted = self._wanted, {}
        for source, tools in waiting.items():
            self._remove(source, keep=tools)
        for source, tools in waiting.items():
            self._add(source, tools)

    def tools_of(self, source: str) -> tuple[str, ...]:
        """The names of a source's tools that are in the registry."""
        return tuple(self._present.get(source, ()))

    def _remove(self, source: str, keep: tuple[AnyTool, ...]) -> None:
        present = self._present.setdefault(source, {})
        for name, tool in tuple(present.items()):
            if not any(tool is kept for kept in keep):
                self._registry.unregister(name)
                del present[name]

    def _add(self, source: str, tools: tuple[AnyTool, ...]) -> None:
        present = self._present.setdefault(source, {})
        for tool in tools:
            if any(tool is known for known in present.values()):
                continue
            try:
                adopted = adopt(tool, self._registry)
                self._registry.register(adopted, source=source, on_conflict="error")
            except UserError as error:
                self._complain(error.message, error.hint)
            except Exception as error:  # a foreign tool's declaration
                what = f"{type(error).__name__}: {error}"
                text = mark("{source}: cannot use the tool {tool} ({what}).")
                self._complain(tr(text, source=source, tool=tool.name, what=what), "")
            else:
                present[tool.name] = tool
        if not present:
            del self._present[source]
