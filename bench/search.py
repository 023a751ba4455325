"""Measures the search tools against plain ripgrep on a generated tree of 50,000 files."""

import asyncio
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from agent_cli.core.display import Display
from agent_cli.core.tool import AnyTool
from agent_cli.core.tool_context import SessionState, SessionView, ToolContext
from agent_cli.lib.find_program import find_program
from agent_cli.safety.paths import Workspace
from agent_cli.tools import glob, grep
from bench.rows import Row, at_most, table

FILES = 50_000
ROUNDS = 11
FIRST_ROUNDS = 61
"""Which of its threads finds something first is chance; a first result takes but milliseconds."""
_WORDS = ("alpha", "beta", "gamma", "return", "value", "import", "class", "def", "self", "token")
_ENDINGS = ("py", "ts", "md", "txt", "json", "go", "c", "h", "rs", "yml")


def make_tree(root: Path, files: int = FILES) -> None:
    """Directories of 100 small files; one file in a hundred has the needle in it."""
    chance = random.Random(1)
    text = [" ".join(chance.choices(_WORDS, k=8)) + "\n" for _ in range(500)]
    for number in range(files):
        directory = root / f"pkg{number // 100 % 25:02}" / f"mod{number // 100:04}"
        if number % 100 == 0:
            directory.mkdir(parents=True)
        lines = chance.choices(text, k=30)
        if number % 100 == 50:
            lines.append("needle_here = 1\n")
        name = f"file{number % 100:02}.{_ENDINGS[number % len(_ENDINGS)]}"
        (directory / name).write_text("".join(lines))


def run() -> list[Row]:
    """All measurements, each of several rounds side by side."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        make_tree(root)
        before = _memory()
        rows = asyncio.run(_measured(root))
        return [*rows, at_most("Grep: memory it adds", _memory() - before, "MB", 50)]


async def _measured(root: Path) -> list[Row]:
    search = [find_program("rg") or "rg", "--no-config", "--hidden", "-n"]
    rows = []
    for label, pattern, mode, flags in (
        ("content", "needle_here", "content", []),
        ("content, regex", r"needle_\w+", "content", []),
        ("files", "needle_here", "files_with_matches", ["-l"]),
        ("count", "needle_here", "count", ["-c"]),
    ):
        plain = partial(_whole, [*search, *flags, "-e", pattern, "--", str(root)])
        given = {"pattern": pattern, "output_mode": mode, "head_limit": 2000}
        ratio = await _compared(partial(_ours, grep.TOOL, given, root), plain)
        rows.append(at_most(f"Grep against rg: {label}", ratio, "×", 1.3))
    for label, pattern in (("common", "token"), ("rare", "needle_here")):
        ratio = await _compared(
            partial(_our_first, {"pattern": pattern}, root),
            partial(_first, [*search, "-e", pattern, "--", str(root)]),
            FIRST_ROUNDS,
        )
        rows.append(at_most(f"Grep against rg: first result, {label}", ratio, "×", 1.5))
    listing = f"{search[0]} --files {root} | sort > /dev/null"
    for pattern in ("**/*.py", "**/*"):
        ours = partial(_ours, glob.TOOL, {"pattern": pattern}, root)
        ratio = await _compared(ours, partial(_whole, ["/bin/sh", "-c", listing]))
        rows.append(at_most(f"Glob {pattern} against rg --files | sort", ratio, "×", 1.3))
    return rows


async def _compared(
    ours: Callable[[], Awaitable[float]], theirs: Callable[[], float], rounds: int = ROUNDS
) -> float:
    """The median of our time over theirs, of rounds in which they take turns."""
    taken = [(await ours(), await asyncio.to_thread(theirs)) for _ in range(rounds + 1)]
    warm = taken[1:]  # the first round only fills the caches
    return statistics.median(own / other for own, other in warm)


async def _ours(tool: AnyTool, given: dict[str, Any], root: Path) -> float:
    started = time.perf_counter()
    await tool.bind(given).run(_context(root))
    return time.perf_counter() - started


async def _our_first(given: dict[str, Any], root: Path) -> float:
    """Until something is shown; then the search is cancelled."""
    shown: asyncio.Future[float] = asyncio.get_running_loop().create_future()

    def show(_piece: object) -> None:
        if not shown.done():
            shown.set_result(time.perf_counter())

    started = time.perf_counter()
    search = asyncio.ensure_future(
        grep.TOOL.bind(given).run(replace(_context(root), progress=show))
    )
    first = await shown
    search.cancel()
    await asyncio.gather(search, return_exceptions=True)
    return first - started


def _first(command: list[str]) -> float:
    started = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        os.read(process.stdout.fileno(), 1)
        first = time.perf_counter()
        process.kill()
    return first - started


def _whole(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    return time.perf_counter() - started


def _context(root: Path) -> ToolContext:
    def nothing(_shown: str | Display) -> None:
        pass

    environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(root.parent)}
    return ToolContext(
        call_id="bench",
        session=SessionView("bench", Workspace(str(root)), environment),
        model=cast(Any, None),
        cancelled=threading.Event(),
        progress=nothing,
        state=SessionState().get,
        call=cast(Any, None),
        ask=cast(Any, None),
        present=cast(Any, None),
    )


def _memory() -> float:
    """The most memory this process has held, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


if __name__ == "__main__":
    print(table(run()))
