"""Trust and approval are for what will run: the scripts that hooks and servers name included."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from agent_cli.core.deciding.trust_items import TooMuch, what_trust_enables
from agent_cli.core.events import ApprovalAsked
from agent_cli.core.inbox import Approval
from agent_cli.safety.scripts import named_scripts
from agent_cli.storage.trust_store import TrustStore
from tests.kit.extensions import extended
from tests.kit.program import Program
from tests.kit.sessions import SceneMaker, of_type

HOOK = '[[hooks]]\non = "{on}"\ncommand = {command}\n'


def bash(command: str) -> dict[str, Any]:
    return {"calls": [{"name": "Bash", "arguments": {"command": command}}]}


def hook(command: str, on: str = "after_tool") -> str:
    return HOOK.format(on=on, command=json.dumps(command))


@pytest.mark.parametrize(
    ("command", "named"),
    [
        ("sh scripts/fmt.sh", ["scripts/fmt.sh"]),
        ("./scripts/fmt.sh --fix", ["scripts/fmt.sh"]),
        ('"$PWD"/scripts/fmt.sh', ["scripts/fmt.sh"]),
        ("${ROOT}/scripts/fmt.sh", ["scripts/fmt.sh"]),
        ("cd scripts && ./fmt.sh", ["scripts/fmt.sh"]),
        ("cd scripts; sh fmt.sh", ["scripts/fmt.sh"]),
        ("bash -c 'sh scripts/fmt.sh | cat'", ["scripts/fmt.sh"]),
        ("for f in scripts/*.sh; do sh $f; done", ["scripts/fmt.sh"]),
        ("python3 -m tools.server", ["tools/__init__.py", "tools/server.py"]),
        ("python3 tools", ["tools/__init__.py", "tools/__main__.py"]),
        ("make lint", ["Makefile"]),
        ("npm run fmt", ["package.json"]),
        ("'scripts/with blank'", ["scripts/with blank"]),
        (". scripts/no-suffix", ["scripts/no-suffix"]),
        ("cat >> notes.txt", []),
        ("jq . data.json", []),
        ("notify-send done", []),
    ],
)
def test_what_a_command_line_runs_is_found(tmp_path: Path, command: str, named: list[str]) -> None:
    for name in ("scripts/fmt.sh", "tools/server.py", "tools/__main__.py", "Makefile",
                 "package.json", "scripts/with blank", "scripts/no-suffix", "notes.txt",
                 "data.json", "tools/__init__.py"):  # fmt: skip
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("#!/bin/sh\n" if name.startswith("scripts/") else "x")
    found = [
        str(Path(each).relative_to(tmp_path)) for each in named_scripts(command, str(tmp_path))
    ]
    assert [each for each in found if each in named] == sorted(named)
    assert set(found) <= {*named, "tools/__init__.py", "tools/__main__.py"}


def test_a_changed_script_of_a_hook_ends_trust(tmp_path: Path) -> None:
    root, own = tmp_path / "project", tmp_path / "config.toml"
    (root / ".agent").mkdir(parents=True)
    (root / "scripts").mkdir()
    (root / "scripts" / "a.sh").write_text("echo a")
    (root / "scripts" / "b.sh").write_text("echo b")
    (root / ".agent" / "config.toml").write_text(hook("sh scripts/a.sh"))
    own.write_text(hook("sh scripts/b.sh"))
    store = TrustStore(tmp_path / "trust", own)
    items = store.items(root)
    assert [each.path for each in items if each.kind == "script"] == [
        str(root / "scripts" / "a.sh"), str(root / "scripts" / "b.sh"),
    ]  # fmt: skip
    store.trust(root, items)
    assert store.standing(root).trusted
    for name in ("a.sh", "b.sh"):
        (root / "scripts" / name).write_text("touch PWNED")
        assert store.standing(root).changed == (str(root / "scripts" / name),)
        store.trust(root, store.items(root))


@pytest.mark.parametrize("on", ["after_tool", "before_tool", "turn_end"])
async def test_a_script_that_changed_is_not_run_by_its_hook(
    make_session: SceneMaker, tmp_path: Path, on: str
) -> None:
    marker = tmp_path / "PWNED"
    files = {"scripts/fmt.sh": "cat >/dev/null; echo ran >> ran.txt"}
    rewrite = bash(f"echo 'touch {marker}' > scripts/fmt.sh")
    settings = {"mode": "yolo", "hooks": [{"on": on, "command": "sh scripts/fmt.sh"}]}
    scene = make_session(bash("true"), rewrite, bash("ls"), {"text": "."}, {"text": "."},
                         files=files, settings=settings)  # fmt: skip
    made = await extended(scene)
    events = await scene.play("go", lambda _: Approval(answer="once"))
    await scene.play("again")
    await scene.session.close()
    assert not marker.exists()
    told = made.notices + "".join(
        str(asked.request.reasons) for asked in of_type(events, ApprovalAsked)
    )
    assert "scripts/fmt.sh" in told
    assert "changed" in told


async def test_a_user_hook_runs_no_script_of_a_folder_that_is_not_trusted(
    make_session: SceneMaker, tmp_path: Path
) -> None:
    marker = tmp_path / "PWNED"
    settings = {"hooks": [{"on": "turn_end", "command": "sh scripts/fmt.sh"}]}
    files = {"scripts/fmt.sh": f"touch {marker}"}
    scene = make_session({"text": "."}, files=files, settings=settings, trust=False)
    made = await extended(scene)
    await scene.play()
    await scene.session.close()
    assert not marker.exists()
    assert "scripts/fmt.sh" in made.notices


async def test_edits_of_such_a_script_ask(make_session: SceneMaker) -> None:
    write = {
        "calls": [{"name": "Write", "arguments": {"file_path": "scripts/fmt.sh", "content": "x"}}]
    }
    read = {"calls": [{"name": "Read", "arguments": {"file_path": "scripts/fmt.sh"}}]}
    settings = {
        "mode": "accept-edits",
        "hooks": [{"on": "turn_end", "command": "sh scripts/fmt.sh"}],
    }
    scene = make_session(
        read, write, {"text": "."}, files={"scripts/fmt.sh": "true"}, settings=settings
    )
    events = await scene.play("go", lambda _: Approval(answer="no"))
    (asked,) = of_type(events, ApprovalAsked)
    assert "a hook or an MCP server runs it" in str(asked.request.reasons[0])


def test_linked_settings_are_shown_and_what_is_too_long_cannot_be_trusted(
    program: Program, tmp_path: Path
) -> None:
    root = program.workspace
    (root / ".agent").mkdir()
    (root / "tooling").mkdir()
    (root / "tooling" / "dev.toml").write_text(hook("touch PWNED-by-link", "session_start"))
    (root / ".agent" / "config.toml").symlink_to("../tooling/dev.toml")
    done = program.run("trust", "--yes")
    assert "a link to ../tooling/dev.toml" in done.out
    assert "PWNED-by-link" in done.out
    (root / ".agent" / "config.toml").unlink()
    long = "".join(hook(f"true {'x' * 1000}") for _ in range(25)) + hook("touch PWNED-behind")
    (root / ".agent" / "config.toml").write_text(long)
    done = program.run("trust", "--yes")
    assert done.code == 2
    assert "more than can be shown" in done.err
    with pytest.raises(TooMuch):
        what_trust_enables(root)


SERVER = """
import sys
from mcp.server import MCPServer
server = MCPServer("x")
@server.tool()
def hello() -> str:
    "Says hello."
    return "hello"
server.run()
"""


def test_an_approved_server_whose_script_changed_is_not_started(program: Program) -> None:
    (program.workspace / "tools").mkdir()
    script = program.workspace / "tools" / "server.py"
    script.write_text(SERVER)
    table = {"command": sys.executable, "args": ["tools/server.py"]}
    (program.workspace / ".mcp.json").write_text(json.dumps({"mcpServers": {"x": table}}))
    assert program.run("trust", "--yes").code == 0
    done = program.run("mcp", "approve", "x", "--yes")
    assert done.code == 0, done.out + done.err
    assert "tools/server.py" in done.out
    marker = program.workspace / "PWNED"
    script.write_text(f"open({str(marker)!r}, 'w')\n{SERVER}")
    call = {"calls": [{"name": "mcp__x__hello", "arguments": {}}]}
    done = program.run("-p", "go", "--model", program.script(call, {"text": "."}))
    assert not marker.exists()
    assert "changed" in done.err
