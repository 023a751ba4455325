"""Whether ten MCP servers and three plugins delay the prompt: side by side with none of them."""

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from agent_cli.extensions.mcp.approved_servers import (
    ApprovedServer,
    ApprovedServers,
    OfferedTool,
    tool_lines,
)
from agent_cli.extensions.mcp.spec import read_servers
from bench.rows import Row, at_most, for_information
from bench.screen_program import ON_SCREEN, ScreenProgram
from bench.timing import ratio, samples

ROOT = Path(__file__).parents[1]
SERVERS, PLUGINS = 10, 3
ROUNDS = 9
LONGEST = 60.0

SERVER = """
import json, os, sys
tool = {"name": "echo", "description": "Says it again.", "inputSchema": {"type": "object"}}
for line in sys.stdin:
    message = json.loads(line)
    known = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                       "serverInfo": {"name": "bench", "version": "1"}},
        "tools/list": {"tools": [tool]},
    }.get(message.get("method"))
    if "id" in message:
        answer = {"result": known} if known else {"error": {"code": -32601, "message": "?"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
    if message.get("method") == "tools/list":
        open(os.path.join(os.path.dirname(__file__), "listed-" + sys.argv[1]), "w").close()
"""
PLUGIN = """
from agent_cli.extensions.api import tool

@tool
def {name}(text: str) -> str:
    '''Says it again.'''
    return text
"""


def run() -> list[Row]:
    """The time until a key shows, with and without; and until all extensions are there."""
    with tempfile.TemporaryDirectory() as directory:
        bare, extended = Path(directory, "bare"), Path(directory, "extended")
        for home in (bare, extended):
            home.mkdir()
        _configure(extended)
        arrived: list[float] = []
        rivals: dict[str, Callable[[], float]] = {
            "without": lambda: _until_echo(bare),
            "with": lambda: _until_echo(extended, arrived),
        }
        taken = samples(rivals, ROUNDS)
    without, own = (statistics.median(taken[name]) * 1000 for name in ("without", "with"))
    return [
        for_information("prompt ready without extensions", without, "ms"),
        for_information(f"prompt ready with {SERVERS} servers, {PLUGINS} plugins", own, "ms"),
        for_information("all of them there", statistics.median(arrived) * 1000, "ms"),
        at_most("prompt ready, with / without", ratio(taken["with"], taken["without"]), "×", 1.05),
    ]


def _until_echo(home: Path, arrived: list[float] | None = None) -> float:
    """Start, type a key, see it; then wait for the servers, so that rounds are alike."""
    script = home / "script.jsonl"
    script.write_text(json.dumps({"text": "hi"}), encoding="utf-8")
    for old in home.glob("listed-*"):
        old.unlink()
    argv = [sys.executable, "-m", "agent_cli", "--trust", "--model", f"scripted:{script}"]
    env = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "PYTHONPATH": str(ROOT),
        "LANG": "C.UTF-8",
    }
    with ScreenProgram(argv, home, env) as program:
        program.wait_for(ON_SCREEN)
        program.echo()
        ready = program.elapsed()
        if arrived is not None:
            deadline = time.monotonic() + LONGEST
            while len(list(home.glob("listed-*"))) < SERVERS:
                if time.monotonic() > deadline:
                    raise TimeoutError("the servers did not come")
                program.pass_time(0.05)
            arrived.append(program.elapsed())
        return ready


def _configure(home: Path) -> None:
    """Write servers and plugins, and approve of the servers."""
    server = home / "server.py"
    server.write_text(SERVER, encoding="utf-8")
    own = home / ".config" / "agent"
    (own / "tools").mkdir(parents=True)
    for number in range(PLUGINS):
        (own / "tools" / f"own{number}.py").write_text(PLUGIN.format(name=f"own{number}"))
    file = own / "config.toml"
    tables = {
        f"s{number}": {"command": sys.executable, "args": ["-I", str(server), str(number)]}
        for number in range(SERVERS)
    }
    file.write_text(
        "".join(
            f"[mcp.servers.{name}]\ncommand = {json.dumps(table['command'])}\n"
            f"args = {json.dumps(table['args'])}\n"
            for name, table in tables.items()
        )
    )
    offer = OfferedTool("echo", "", "Says it again.", {"type": "object"}, {})
    pins = ApprovedServers(home / ".local" / "state" / "agent" / "mcp" / "approved")
    for each in read_servers({str(file): tables}).servers:
        pins.approve(each, ApprovedServer(each.launch, tool_lines([offer])))
