"""Tools of one's own and MCP servers, from the command line of the real program."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.kit.mcp_world import ODD
from tests.kit.program import ROOT, Program, wait_until

CALL = {"calls": [{"name": "weather", "arguments": {"subject": "Ada"}}]}


def test_a_newcomers_tool_is_written_tested_and_used(program: Program) -> None:
    made = program.run("new", "tool", "weather")
    assert made.code == 0, made.err
    tool, test = (Path(line) for line in made.out.splitlines()[:2])
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test.name],
        cwd=test.parent,
        env=program.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 passed" in tested.stdout, tested.stdout + tested.stderr
    told = program.run("plugins", "info", "weather").out
    assert "(execute, asks): Says hello." in told
    assert str(tool) in told

    model = program.script(CALL, {"text": "done"})
    used = program.run(
        "-p", "go", "--model", model, "--trust", "--allow", "weather",
        "--output-format", "stream-json",
    )  # fmt: skip
    (finished,) = [event for event in used.events if event["type"] == "tool_finished"]
    assert finished["result"]["llm_content"] == "Hello, Ada!"

    assert program.run("plugins", "disable", "weather").code == 0
    assert "disabled" in program.run("plugins", "list").out
    again = program.run("new", "tool", "weather")
    assert again.code == 2
    assert "already exists" in again.err


def add_odd(program: Program, note: Path) -> None:
    done = program.run(
        "mcp", "add", "odd", "--yes", "--env", "SECRET=hunter2hunter2", "--",
        sys.executable, "-I", ODD, "--note", str(note),
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "Approved odd with 12 tools." in done.out
    assert "hunter2" not in done.out
    assert "\x1b" not in done.out


def test_a_server_is_added_listed_tested_and_removed(program: Program, tmp_path: Path) -> None:
    config = program.home / ".config" / "agent" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('theme = "agent-dark"  # mine\n')
    note = tmp_path / "note"
    add_odd(program, note)
    tested = program.run("mcp", "test", "odd")
    assert "mcp__odd__echo" in tested.out
    config.write_text(config.read_text().replace('"--note"', '"--tools"'))
    unasked = program.run("mcp", "test", "odd")
    assert unasked.code == 2
    assert "not a terminal" in unasked.err
    assert "changed" in program.run("mcp", "list").out
    assert program.run("mcp", "remove", "odd").code == 0
    assert config.read_text() == 'theme = "agent-dark"  # mine\n'
    for pid in note.read_text().split():
        assert not Path(f"/proc/{pid}").exists(), "none is left behind"


def test_servers_end_with_us_even_when_we_are_killed(program: Program, tmp_path: Path) -> None:
    note = tmp_path / "note"
    add_odd(program, note)
    known = len(note.read_text().split())
    agent = program.start(
        "--input-format", "stream-json", "--output-format", "stream-json",
        "--model", program.script({"text": "hi"}), stdin=subprocess.PIPE,
    )  # fmt: skip
    try:
        wait_until(lambda: len(note.read_text().split()) > known, 60)
        server = int(note.read_text().split()[-1])
        assert Path(f"/proc/{server}").exists()
        os.kill(agent.pid, signal.SIGKILL)
        wait_until(lambda: not _is_alive(server))
    finally:
        agent.kill()
        agent.communicate()


def _is_alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def test_an_untrusted_folder_starts_and_loads_nothing(program: Program, tmp_path: Path) -> None:
    note = tmp_path / "note"
    tools = program.workspace / ".agent" / "tools"
    tools.mkdir(parents=True)
    (tools / "evil.py").write_text(f"open({str(note)!r}, 'a').write('loaded')\n")
    servers = {
        "mcpServers": {"odd": {"command": sys.executable, "args": [ODD, "--note", str(note)]}}
    }
    (program.workspace / ".mcp.json").write_text(json.dumps(servers))
    assert program.run("-p", "go", "--model", program.script({"text": "hi"})).code == 0
    assert not note.exists()
    shown = program.run("trust", "--yes").out
    assert "evil.py" in shown
    assert "bytes of Python, which run in this program as a tool" in shown
    assert f"{sys.executable} {ODD}" in shown
    told = program.run("-p", "go", "--model", program.script({"text": "hi"}))
    assert "1 MCP server not started: odd (not approved)" in told.err
    assert note.read_text() == "loaded", "the tool file ran, the server did not"


def test_starting_up_imports_nothing_of_extensions() -> None:
    code = "import agent_cli.runtime, sys; print([n for n in sys.modules if n.startswith(('mcp', 'agent_cli.extensions.'))])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_a_command_and_a_hook_from_the_users_files(program: Program) -> None:
    own = program.home / ".config" / "agent"
    (own / "commands").mkdir(parents=True)
    (own / "commands" / "polish.md").write_text("Polish $1. !`touch unasked`")
    hook = '[[hooks]]\non = "before_tool"\ntools = ["Read"]\ncommand = "echo closed >&2; exit 2"\n'
    (own / "config.toml").write_text(hook)
    (program.workspace / "a.txt").write_text("hello\n")
    reads = {"calls": [{"name": "Read", "arguments": {"file_path": "a.txt"}}]}
    stream = ("--output-format", "stream-json", "--trust")
    model = program.script(reads, {"text": "done"})
    done = program.run("-p", "/polish a.txt", "--model", model, *stream)
    assert done.events[0]["prompt"] == "/polish a.txt"
    touch, read = (e["result"]["llm_content"] for e in done.events if e["type"] == "tool_finished")
    assert "nobody is there to ask" in touch
    assert "closed" in read
    assert not (program.workspace / "unasked").exists()
