"""Whatever the program starts, the folder it is started in supplies none of the code."""

import ast
import asyncio
import re
import signal
from pathlib import Path

import aiohttp
import pytest

from tests.e2e.test_serve import opened, until_up
from tests.kit.program import Program
from tests.test_architecture import functions, sources

OWN_PYTHON = "our own Python with -P or -I, outside of the folder or with an environment of ours"
ABSOLUTE = "an absolute path, fixed here or found by find_program"
FIXED_PATH = (
    "looked up on a search path without the folder's entries, with options that run nothing"
)
USERS = "what the user configured or approved, on a search path without relative entries"
STARTS = {
    "models/worker_process.py:spawn": OWN_PYTHON,
    "models/warm_client.py:start_warm_process": OWN_PYTHON,
    "models/warm_process.py:_fork": "a copy of itself",
    "safety/sandbox/starting.py:ForkServer._connect": OWN_PYTHON,
    "lib/watchdog.py:Watchdog._ensure_running": OWN_PYTHON,
    "frontends/web/child.py:Child.run": OWN_PYTHON,
    "tools/_documents.py:document_text": OWN_PYTHON,
    "safety/sandbox/landlock_exec.py:_execute": "the command that is confined, by its path",
    "safety/sandbox/tiers.py:_output": ABSOLUTE,
    "lib/sweep.py:_from_ps": ABSOLUTE,
    "safety/shell/analysis.py:bash_accepts": ABSOLUTE,
    "extensions/hook_runner.py:command_function": f"/bin/sh; {USERS}",
    "frontends/shared/file_index.py:FileIndex._ask": ABSOLUTE,
    "tools/_ripgrep.py:ripgrep": ABSOLUTE,
    "tools/bash_output.py:_matching": ABSOLUTE,
    "doctor/program_checks.py:_program": ABSOLUTE,
    "doctor/terminal_checks.py:clipboard": ABSOLUTE,
    "tools/_git.py:GitProgram.run": FIXED_PATH,
    "safety/git_probe.py:_run": FIXED_PATH,
    "safety/impact/run.py:run": FIXED_PATH,
    "storage/checkpoint/git.py:GitDirectory.start_ignored": FIXED_PATH,
    "storage/checkpoint/git.py:GitDirectory.merge": FIXED_PATH,
    "storage/checkpoint/git.py:GitDirectory._run": FIXED_PATH,
    "safety/sandbox/starting.py:start": "the command that was decided about",
    "extensions/mcp/process.py:ServerProcess.__aenter__": USERS,
    "extensions/mcp/signing_in.py:SignIn._redirect": f"the browser; {USERS}",
    "frontends/shared/external_editor.py:edit_text": f"the editor; {USERS}",
}
"""Every function that starts a process, and why the folder cannot supply what it starts."""


@pytest.fixture
def marker(program: Program, tmp_path: Path) -> Path:
    """Exists as soon as anything of the folder was run."""
    made = tmp_path / "ran"
    for name in ("git", "bash", "rg", "bwrap", "tmux", "sh", "python3"):
        for place in (program.workspace, program.workspace / "bin"):
            place.mkdir(exist_ok=True)
            (place / name).write_text(f"#!/bin/sh\n/bin/echo {name} >> {made}\n")
            (place / name).chmod(0o755)
    for name in ("agent_cli/__init__", "agent_cli/__main__", "json", "textual", "litellm"):
        path = program.workspace / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"open({str(made)!r}, 'a').write({name!r})\n")
    return made


async def test_a_served_page_starts_our_own_program(program: Program, marker: Path) -> None:
    process = program.start("serve", "--model", program.script({"text": "x"}))
    assert process.stdout is not None
    try:
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found is not None
        async with aiohttp.ClientSession() as session:
            await until_up(session, found[0])
            async with opened(session, found[0]) as page:
                await page.wait_for("trust")
    finally:
        process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(process.communicate)
    assert not marker.exists(), marker.read_text()


@pytest.mark.parametrize("entry", [".", "", "bin", "./bin/../bin"])
def test_a_relative_entry_of_the_search_path_finds_nothing(
    program: Program, marker: Path, entry: str
) -> None:
    path = f"{entry}:/usr/local/bin:/usr/bin:/bin"
    given = {"PATH": path, "TMUX": "x"}
    assert "git version" in program.run("doctor", environment=given).out
    bash = {"calls": [{"name": "Bash", "arguments": {"command": "git --version; ls"}}]}
    info = {"calls": [{"name": "GitInfo", "arguments": {"action": "status"}}]}
    grep = {"calls": [{"name": "Grep", "arguments": {"pattern": "x"}}]}
    model = program.script(bash, info, grep, {"text": "done"})
    program.run("-p", "go", "--trust", "--model", model, environment=given)
    assert not marker.exists(), marker.read_text()


def test_every_place_that_starts_a_process_is_known() -> None:
    found = {
        f"{file}:{name}"
        for file, text in sources().items()
        for name, node in functions(ast.parse(text))
        if any(map(_starts_a_process, ast.walk(node)))
    }
    assert found == set(STARTS)
    outside = {file for file, text in sources().items() if _starts_while_loading(ast.parse(text))}
    assert not outside


_OF_MODULE = {
    "subprocess": ("run", "Popen", "call", "check_call", "check_output", "getoutput"),
    "webbrowser": ("open", "open_new", "open_new_tab", "get"),
    "pty": ("spawn", "fork"),
    "os": ("system", "popen", "fork", "forkpty", "startfile"),
}
_OF_OS = re.compile(r"(exec|spawn|posix_spawn)[lvpe]*")
_ANYWHERE = re.compile(r"(create_)?subprocess_(exec|shell)|ProcessPoolExecutor|get_context|Process")


def _starts_a_process(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    name = getattr(called, "attr", getattr(called, "id", ""))
    module = getattr(getattr(called, "value", None), "id", "")
    if module == "os" and _OF_OS.fullmatch(name):
        return True
    return name in _OF_MODULE.get(module, ()) or _ANYWHERE.fullmatch(name) is not None


def _starts_while_loading(tree: ast.Module) -> bool:
    """Whether a module starts a process outside of any function, or hides that it does."""
    inside = {each for _, function in functions(tree) for each in ast.walk(function)}
    loose = any(_starts_a_process(node) for node in ast.walk(tree) if node not in inside)
    renamed = any(
        isinstance(node, ast.ImportFrom) and node.module in {*_OF_MODULE, "multiprocessing"}
        for node in ast.walk(tree)
    )
    return loose or renamed
