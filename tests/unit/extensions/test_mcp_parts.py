"""The parts of the MCP client where logic is dense."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agent_cli.core.errors import ToolFailure, UserError
from agent_cli.core.messages import ImagePart
from agent_cli.extensions.mcp import config_editing
from agent_cli.extensions.mcp.approved_servers import (
    ApprovedServer,
    ApprovedServers,
    OfferedTool,
    difference,
    tool_lines,
)
from agent_cli.extensions.mcp.mcp_results import convert_result
from agent_cli.extensions.mcp.mcp_tools import make_tool, tool_name
from agent_cli.extensions.mcp.schemas import Unusable, repair_schema
from agent_cli.extensions.mcp.spec import Server, ServerTable, read_json, read_servers
from agent_cli.extensions.mcp.tool_list_repair import repair


def test_names_fit_every_provider_and_stay_apart() -> None:
    assert tool_name("git", "log") == "mcp__git__log"
    odd = {tool_name("git", name) for name in ("a b", "a/b", "a.b", "x" * 200, "x" * 201)}
    assert len(odd) == 5
    assert all(len(name) <= 64 and name.replace("-", "_").isidentifier() for name in odd)


def test_schemas_are_repaired() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$defs": {"kind": {"type": ["string", "null"], "enum": ["a", "b"]}},
        "properties": {
            "kind": {"$ref": "#/$defs/kind", "description": "\x1b[31mred\u202e"},
            "list": {"type": "array"},
            "either": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "two": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
            "fixed": {"const": 3},
            "odd": {"type": "file", "format": "made-up", "minimum": True, "pattern": "(a+)+$"},
            "away": {"$ref": "https://example.com/schema.json"},
            "bad name!": {"type": "string"},
        },
        "required": ["kind", "missing"],
        "additionalProperties": False,
    }
    assert repair_schema(schema) == {
        "type": "object",
        "properties": {
            "kind": {"type": "string", "enum": ["a", "b"], "description": "red"},
            "list": {"type": "array", "items": {}},
            "either": {"type": "string"},
            "two": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "fixed": {"enum": [3]},
            "odd": {},
            "away": {},
        },
        "required": ["kind"],
        "additionalProperties": False,
    }
    assert repair_schema({"type": "string"}) == {"type": "object", "properties": {}}
    with pytest.raises(Unusable, match="bad name"):
        repair_schema({"properties": {"bad name!": {}}, "required": ["bad name!"]})


def test_schemas_without_end_become_small() -> None:
    loop = {"$ref": "#/$defs/a"}
    endless = {"type": "object", "$defs": {"a": {"properties": {"x": loop, "y": loop}}}, **loop}
    wide = {"properties": {f"p{n}": {"properties": {"q": {}}} for n in range(5_000)}}
    assert len(json.dumps(repair_schema(endless))) < 200_000
    assert len(json.dumps(repair_schema(wide))) < 400_000
    assert repair_schema({"$ref": "#"}) == {"type": "object", "properties": {}}


async def test_arguments_are_held_against_the_schema() -> None:
    async def call(*_: Any) -> Any:
        raise AssertionError

    schema = {"properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]}
    tool = make_tool(OfferedTool("t", "", "", schema, {"readOnlyHint": True}), "s", call, timeout=1)
    assert not tool.is_read_only
    assert tool.requires_permission
    assert tool.bind('{"n": 2, "more": true}').params.given == {"n": 2, "more": True}
    for wrong in ({}, {"n": 0}, {"n": "x"}, {"n": 1, "nul": "\0"}):
        with pytest.raises(ToolFailure, match="mcp__s__t was not run"):
            tool.bind(wrong)


def test_one_wrong_tool_does_not_cost_the_others() -> None:
    tools = [
        {"name": "good", "inputSchema": {"type": "object"}, "outputSchema": {"pattern": "(a+)+$"}},
        {"name": "bare"},
        {"name": "odd", "inputSchema": [], "description": 7, "annotations": {"x": {}, "y": True}},
        {"name": None},
        "no tool",
    ]
    message = SimpleNamespace(message=SimpleNamespace(result={"tools": tools}))
    assert repair(message).message.result["tools"] == [
        {"name": "good", "inputSchema": {"type": "object"}},
        {"name": "bare", "inputSchema": {"type": "object"}},
        {"name": "odd", "inputSchema": {"type": "object"}, "annotations": {"y": True}},
    ]


def block(**fields: Any) -> SimpleNamespace:
    return SimpleNamespace(**fields)


def answered(*content: Any, structured: Any = None, is_error: bool = False) -> SimpleNamespace:
    return block(content=list(content), structured_content=structured, is_error=is_error)


def test_results_of_every_kind() -> None:
    picture = block(type="image", data="aGk=", mime_type="image/png")
    linked = block(type="resource_link", uri="file:///x", name="x", description=None)
    held = block(type="resource", resource=block(uri="file:///y", text="inside"))
    binary = block(type="resource", resource=block(uri="file:///z", blob="AAAA"))
    sound = block(type="audio", data="AAAA", mime_type="audio/wav")
    result = convert_result(answered(picture, linked, held, binary, sound), "s", takes_images=True)
    text, image = result.llm_content
    assert image == ImagePart(media_type="image/png", data="aGk=")
    assert "[resource file:///x: x]" in text.text  # type: ignore[union-attr]
    assert "[resource file:///y]\ninside" in text.text  # type: ignore[union-attr]
    assert "binary, left out" in text.text  # type: ignore[union-attr]
    assert "[audio content left out]" in text.text  # type: ignore[union-attr]
    without = convert_result(answered(picture), "s", takes_images=False)
    assert "does not accept images" in str(without.llm_content)
    evil = block(type="image", data="<script>", mime_type="image/svg+xml")
    assert "left out" in str(convert_result(answered(evil), "s", takes_images=True).llm_content)
    data = convert_result(answered(structured={"a": 1}), "s", takes_images=False)
    assert json.loads(str(data.llm_content)) == {"a": 1}
    with pytest.raises(ToolFailure, match="without details"):
        convert_result(answered(is_error=True), "s", takes_images=False)


def test_configured_servers_are_checked_one_by_one() -> None:
    found = read_servers(
        {
            "user": {
                "a": {"command": "x"},
                "b": {"url": "ftp://x"},
                "off": {"command": "x", "enabled": False},
            },
            "project": {"a": {"command": "evil"}, "c__d": {"command": "x"}, "e": {}, "f": 7},
        }
    )
    assert [(server.name, server.source) for server in found.servers] == [("a", "user")]
    assert len(found.problems) == 5


def test_what_is_pinned_shows_names_and_no_values(tmp_path: Path) -> None:
    table = {
        "command": "run me",
        "args": ["a b"],
        "env": {"K": "s3cret", "T": "${MINE}", "U": "x${Y}"},
    }
    server = Server("s", "file", ServerTable.model_validate(table))
    lines = "\n".join(server.launch)
    assert "command: 'run me' 'a b'" in lines
    assert "environment T: your MINE" in lines
    assert "with your Y" in lines
    assert "s3cret" not in lines
    other = Server("s", "file", ServerTable.model_validate({**table, "env": {"K": "changed"}}))
    assert "environment K" in difference(server.launch, other.launch)
    pins = ApprovedServers(tmp_path / "pins")
    assert pins.get(server) is None
    pin = ApprovedServer(server.launch, tool_lines([OfferedTool("t", "", "d", {}, {})]))
    pins.approve(server, pin)
    assert pins.get(server) == pin
    assert all(path.stat().st_mode & 0o77 == 0 for path in (tmp_path / "pins").iterdir())
    assert pins.get(Server("s", "elsewhere", server.table)) is None, "approved for one file only"
    assert pins.forget(server)
    assert pins.get(server) is None


def test_files_are_edited_without_touching_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    text = '# mine\nmodel = "x"\n\n[mcp.servers.old]\ncommand = "a"\n[mcp.servers.old.env]\nK = "v"\n\n[limits]\nsteps = 3\n'
    path.write_text(text)
    config_editing.add_to_toml(path, "new", {"command": "b", "args": ["-x"], "env": {"A-B": 'q"'}})
    assert path.read_text().startswith(text)
    with pytest.raises(UserError, match="already"):
        config_editing.add_to_toml(path, "new", {"command": "b"})
    config_editing.remove_from_toml(path, "new")
    assert path.read_text() == text
    config_editing.remove_from_toml(path, "old")
    assert path.read_text() == '# mine\nmodel = "x"\n\n[limits]\nsteps = 3\n'
    path.write_text('mcp = { servers = { tight = { command = "a" } } }\n')
    with pytest.raises(UserError, match="safely"):
        config_editing.remove_from_toml(path, "tight")
    shared = tmp_path / ".mcp.json"
    config_editing.add_to_json(shared, "one", {"command": "a", "args": []})
    assert read_json(shared) == {"one": {"command": "a"}}
    config_editing.remove_from_json(shared, "one")
    assert read_json(shared) == {}
