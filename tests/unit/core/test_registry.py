"""Tools by name."""

import threading

import pytest

from agent_cli.core.errors import ToolFailure, UserError
from agent_cli.core.registry import Registry, RegistryChange, Selection
from agent_cli.core.tool import AnyTool, Description, Tool, ToolKind, ToolParams, ToolResult
from agent_cli.core.tool_context import ToolContext


class NoParams(ToolParams):
    """Nothing."""


async def run(params: NoParams, context: ToolContext) -> ToolResult:
    return ToolResult()


def tool(name: str, **more: object) -> AnyTool:
    kind = more.pop("kind", ToolKind.READONLY)
    description = Description(short=f"The {name} tool.")
    return Tool(name=name, kind=kind, params=NoParams, run=run, description=description, **more)  # type: ignore[arg-type]


def test_names_aliases_and_letter_case_find_a_tool() -> None:
    registry = Registry()
    registry.register(tool("Read", aliases=("read_file", "view")))
    for name in ("Read", "read", "READ", "readFile", "read_file", "read-file", "View"):
        found = registry.get(name)
        assert found is not None
        assert found.name == "Read"
    assert registry.get("Write") is None


def test_a_name_beats_another_tools_alias() -> None:
    registry = Registry()
    registry.register(tool("Read", aliases=("View",)))
    registry.register(tool("View"))
    found = registry.get("view")
    assert found is not None
    assert found.name == "View"


def test_a_miss_names_the_closest_tools() -> None:
    registry = Registry()
    for name in ("Grep", "Glob", "Write"):
        registry.register(tool(name))
    with pytest.raises(ToolFailure, match="Did you mean Grep"):
        registry.find("Grp")


def test_the_same_name_replaces_and_says_so() -> None:
    registry = Registry()
    changes: list[RegistryChange] = []
    stop = registry.listen(changes.append)
    registry.register(tool("Read"))
    registry.register(tool("Read", version="2"))
    assert registry.unregister("Read")
    assert not registry.unregister("Read")
    stop()
    registry.register(tool("Read"))
    assert [change.what for change in changes] == ["registered", "replaced", "unregistered"]


def test_a_source_that_must_not_shadow_is_refused_and_both_are_named() -> None:
    registry = Registry()
    registry.register(tool("Read"), source="built in")
    with pytest.raises(UserError, match=r"built in.*plugin x"):
        registry.register(tool("Read"), source="plugin x", on_conflict="error")


def test_a_selection_filters_what_is_offered_and_found() -> None:
    registry = Registry()
    registry.register(tool("Read", category="files", tags=("text",)))
    registry.register(tool("Bash", kind=ToolKind.EXECUTE))
    registry.register(tool("Secret", role="admin"))
    registry.register(tool("Off", is_enabled=lambda: False))

    def names(selection: Selection) -> list[str]:
        return [d["function"]["name"] for d in registry.declarations(selection)]

    assert names(Selection()) == ["Bash", "Read"]
    assert names(Selection(read_only=True)) == ["Read"]
    assert names(Selection(names={"Bash"})) == ["Bash"]
    assert names(Selection(role="admin")) == ["Bash", "Read", "Secret"]
    with pytest.raises(ToolFailure, match="not available"):
        registry.find("Bash", Selection(read_only=True))
    assert [t.name for t in registry.select(category="files")] == ["Read"]
    assert [t.name for t in registry.select(tag="text")] == ["Read"]
    assert [t.name for t in registry.select(kind=ToolKind.EXECUTE)] == ["Bash"]
    assert [t.name for t in registry.select(text="bash tool")] == ["Bash"]


def test_tools_come_and_go_while_others_look() -> None:
    registry = Registry()
    registry.register(tool("Read"))
    problems: list[BaseException] = []

    def look() -> None:
        try:
            for _ in range(2000):
                assert registry.get("read") is not None
                registry.declarations()
        except BaseException as error:
            problems.append(error)

    def change() -> None:
        for number in range(300):
            registry.register(tool(f"T{number}"))
            registry.unregister(f"T{number}")

    threads = [threading.Thread(target=work) for work in (look, look, change, change)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert len(registry) == 1
