"""What a shell command costs on top of bash itself, and how much memory a flood of output takes."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from agent_cli.core.tool_context import SessionState, SessionView, ToolContext
from agent_cli.safety.environment import child_environment
from agent_cli.safety.paths import Workspace
from agent_cli.tools import bash
from bench.rows import Row, at_most

CALLS = 200
FLOOD_SECONDS = 10


def run() -> list[Row]:
    """The cost of a small command, and the memory a large one takes."""
    return [_overhead(), _flood()]


def _overhead() -> Row:
    # Turn and turn about, so that both see the same load.
    async def measure() -> float:
        with tempfile.TemporaryDirectory() as root:
            state = SessionState()
            context = _context(root, state)
            ours, plain = [], []
            await _call("true", context)
            for _ in range(CALLS):
                plain.append(await _timed(_plain(root)))
                ours.append(await _timed(_call("true", context)))
            await state.close()
        return (statistics.median(ours) - statistics.median(plain)) * 1000

    value = asyncio.run(measure())
    return at_most(f"Bash, {CALLS} × true: median over bash -c true", value, "ms", 15)


def _flood() -> Row:
    """Measured in a process of its own: memory once taken is seldom given back."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.shell"], check=True, capture_output=True, text=True
    )
    name = f"Bash, yes for {FLOOD_SECONDS} s: growth of memory"
    return at_most(name, float(done.stdout), "MB", 50)


async def _grow() -> float:
    with tempfile.TemporaryDirectory() as root:
        state = SessionState()
        context = _context(root, state)
        await _call("true", context)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        await _call("yes", context, timeout=FLOOD_SECONDS * 1000)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        await state.close()
    unit = 1024 * 1024 if sys.platform == "darwin" else 1024
    return (after - before) / unit


async def _timed(what: Any) -> float:
    started = time.perf_counter()
    await what
    return time.perf_counter() - started


async def _plain(root: str) -> None:
    program = shutil.which("bash") or "/bin/bash"
    subprocess.run([program, "-c", "true"], cwd=root, check=True)  # noqa: ASYNC221 (cheapest)


async def _call(command: str, context: ToolContext, **more: Any) -> None:
    await bash.TOOL.bind({"command": command, **more}).run(context)


def _context(root: str, state: SessionState) -> ToolContext:
    async def nobody(*_: Any) -> Any:
        raise AssertionError

    workspace = Workspace(root=root, readable=(str(Path(root) / "results"),))
    return ToolContext(
        call_id="bench",
        session=SessionView("bench", workspace, child_environment(os.environ)),
        model=None,  # type: ignore[arg-type]
        cancelled=threading.Event(),
        progress=lambda _shown: None,
        state=state.get,
        call=nobody,
        ask=nobody,
        present=nobody,
    )


if __name__ == "__main__":
    print(asyncio.run(_grow()))
