"""Writes docs/tools-reference.md from the registry: `make docs/tools-reference.md`."""

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from agent_cli.core.tool import AnyTool, ToolKind
from agent_cli.extensions.loading import BUILT_IN_PLUGINS, find_built_in
from agent_cli.runtime import built_in_tools

HEAD = """\
# Tools reference

<!-- Generated from the registry by `make docs/tools-reference.md`. -->

Every built-in tool as the model sees it. [tools.md](tools.md) tells the same in fewer words,
[permissions.md](permissions.md) says which calls ask first, and
[writing-a-tool.md](writing-a-tool.md) how to add one.
"""
KINDS = {
    ToolKind.READONLY: "changes nothing",
    ToolKind.SESSION: "acts only on the session itself",
    ToolKind.WRITE: "changes files",
    ToolKind.EXECUTE: "acts outside of the workspace's files",
}


def all_tools() -> list[AnyTool]:
    """The built-in tools and those of the plugins that come with the program."""
    plugins = [origin.load() for origin in find_built_in(BUILT_IN_PLUGINS)]
    return [*built_in_tools(), *(tool for plugin in plugins for tool in plugin.tools)]


def reference() -> str:
    """The page, whole."""
    tools = sorted(all_tools(), key=lambda tool: tool.name)
    return "\n".join([HEAD, *(line for tool in tools for line in _section(tool))])


def _section(tool: AnyTool) -> Iterator[str]:
    yield from (f"## {tool.name}", "", tool.description.short, "")
    if tool.description.long:
        yield from (tool.description.long, "")
    yield from (f"- {each}" for each in _facts(tool))
    yield ""
    fields: Mapping[str, Any] = tool.schema.get("properties", {})
    if fields:
        required = tool.schema.get("required", ())
        yield from ("| parameter | type | default | |", "|---|---|---|---|")
        for name, field in fields.items():
            default = "must be given" if name in required else _default(field)
            meaning = _cell(field.get("description", ""))
            yield f"| `{name}` | {_type(field)} | {default} | {meaning} |"
        yield ""
    notes = (*tool.description.usage_notes, *tool.description.important)
    if notes:
        yield from (*(f"- {' '.join(note.split())}" for note in notes), "")


def _facts(tool: AnyTool) -> Iterator[str]:
    asks = "may ask first" if tool.requires_permission else "never asks"
    beside = "runs beside other calls" if tool.is_concurrency_safe else "runs alone"
    within = f"{tool.timeout:g} seconds at most" if tool.timeout else "keeps its own time"
    yield f"{KINDS[tool.kind].capitalize()}; {asks}; {beside}; {within}."
    if tool.aliases:
        yield f"Also understood as {_names(tool.aliases)}."
    if tool.param_aliases:
        pairs = (f"`{given}` for `{ours}`" for given, ours in sorted(tool.param_aliases.items()))
        yield f"Parameters also understood: {', '.join(pairs)}."


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _type(field: Mapping[str, Any]) -> str:
    if "enum" in field:
        return ", ".join(f"`{value}`" for value in field["enum"])
    if "anyOf" in field:
        return " or ".join(_type(each) for each in field["anyOf"])
    if field.get("type") == "array":
        return f"list of {_type(field.get('items', {}))}"
    return str(field.get("type", "any"))


def _default(field: Mapping[str, Any]) -> str:
    return f"`{json.dumps(field['default'])}`" if "default" in field else "none"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(reference())
