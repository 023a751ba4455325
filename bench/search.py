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
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from agent_cli.core.display import Display
from agent_cli.core.tool import AnyTool
from agent_cli.core.tool_context import SessionState, SessionView, ToolContext
from agent_cli.lib.programs import find_program
from agent_cli.safety.paths import Workspace
from agent_cli.tools import glob, grep
from bench.rows import Row, at_most, table

FILES = 50_000
ROUNDS = 7
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
    """All measurements, each the median of several rounds side by side."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        make_tree(root)
        before = _memory()
        rows = asyncio.run(_measured(root))
        return [*rows, at_most("Grep: memory it adds", _memory() - before, "MB", 50)]


async def _measured(root: Path) -> list[Row]:
    rg = find_program("rg") or "rg"
    search = [rg, "--no-config", "--hidden", "-n", "-e"]
    rows = []
    for label, pattern, mode, flags in (
        ("rare, content", "needle_here", "content", []),
        ("rare, regex", r"needle_\w+", "content", []),
        ("rare, files", "needle_here", "files_with_matches", ["-l"]),
        ("rare, count", "needle_here", "count", ["-c"]),
    ):
        plain = [*search, pattern, *flags, "--", str(root)]
        given = {"pattern": pattern, "output_mode": mode, "head_limit": 2000}
        ratio, first = await _compared(grep.TOOL, given, root, lambda p=plain: _first_and_all(p))
        rows.append(at_most(f"Grep against rg: {label}", ratio, "×", 1.3))
        if mode == "content":
            rows.append(at_most(f"Grep against rg: {label}, first result", first, "×", 1.5))
    listing = f"{rg} --files {root} | sort > /dev/null"
    for pattern in ("**/*.py", "**/*"):
        ratio, _ = await _compared(glob.TOOL, {"pattern": pattern}, root, lambda: _shell(listing))
        rows.append(at_most(f"Glob {pattern} against rg --files | sort", ratio, "×", 1.3))
    return rows


async def _compared(
    tool: AnyTool, given: dict[str, Any], root: Path, plain: Callable[[], tuple[float, float]]
) -> tuple[float, float]:
    """The median of our time over the other's, for the whole and for the first result."""
    whole, first = [], []
    for number in range(ROUNDS + 1):
        plain_first, plain_whole = await asyncio.to_thread(plain)
        our_first, our_whole = await _ours(tool, given, root)
        if number:  # the first round only warms the caches
            whole.append(our_whole / plain_whole)
            first.append(our_first / plain_first)
    return statistics.median(whole), statistics.median(first)


async def _ours(tool: AnyTool, given: dict[str, Any], root: Path) -> tuple[float, float]:
    shown: list[float] = []
    context = replace(_context(root), progress=lambda _: shown.append(time.perf_counter()))
    started = time.perf_counter()
    await tool.bind(given).run(context)
    ended = time.perf_counter()
    return (shown[0] if shown else ended) - started, ended - started


def _first_and_all(command: list[str]) -> tuple[float, float]:
    started = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        output = process.stdout
        assert output is not None
        os.read(output.fileno(), 1)
        first = time.perf_counter()
        while os.read(output.fileno(), 1 << 18):
            pass
    return first - started, time.perf_counter() - started


def _shell(command: str) -> tuple[float, float]:
    started = time.perf_counter()
    subprocess.run(["/bin/sh", "-c", command], check=True, stdin=subprocess.DEVNULL)
    took = time.perf_counter() - started
    return took, took


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
    )


def _memory() -> float:
    """The most memory this process has held, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


if __name__ == "__main__":
    print(table(run()))
