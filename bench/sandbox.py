"""What it costs to run a command in each sandbox that works here, over an unconfined one."""

from __future__ import annotations

import asyncio
import os
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_cli.core.tool_context import SessionState, SessionView, ToolContext
from agent_cli.safety.environment import child_environment
from agent_cli.safety.paths import Workspace
from agent_cli.safety.sandbox import Profile, SandboxChoice, SandboxUnavailable, Setting
from agent_cli.tools import bash
from bench.rows import Row, at_most, for_information

CALLS = 100
MAX_ADDED_MS = 15
"""What a confined call may take over `bash -c true`, at the median."""

SETTINGS: tuple[Setting, ...] = ("landlock", "bwrap")


def run() -> list[Row]:
    """Time a command that does nothing through the tool, in a small repository with a secret."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
        place = Path(directory)
        (place / "project" / ".git" / "hooks").mkdir(parents=True)
        (place / "project" / ".env").write_text("TOKEN=1\n", encoding="utf-8")
        (place / "temp").mkdir()
        return asyncio.run(_measure(place))


async def _measure(place: Path) -> list[Row]:
    contexts: dict[str, ToolContext] = {}
    state = SessionState()
    for setting in SETTINGS:
        choice = SandboxChoice(setting)
        try:
            await choice.get()
        except SandboxUnavailable as problem:
            print(problem.message)
            continue
        for profile in Profile:
            context = _context(place, choice, state)
            contexts[f"{profile.value}/{setting}"] = replace(context, confined=profile)
    contexts["unconfined"] = _context(place, SandboxChoice("off"), state)
    taken: dict[str, list[float]] = {name: [] for name in ("bash -c true", *contexts)}
    for number in range(-3, CALLS):
        # Turn and turn about, so that all see the same load.
        taken["bash -c true"].append(_plain(place))
        for name, context in contexts.items():
            started = time.perf_counter()
            await bash.TOOL.bind({"command": "true"}).run(context)
            taken[name].append(time.perf_counter() - started)
        if number < 0:
            for values in taken.values():
                values.clear()
    await state.close()
    bare = taken.pop("bash -c true")
    rows = [for_information("bash -c true", statistics.median(bare) * 1000, "ms")]
    for name, values in taken.items():
        added = statistics.median(own - other for own, other in zip(values, bare, strict=True))
        title = f"Bash, {name}: median over bash -c true"
        is_promised = name.startswith(Profile.READ_ONLY.value)
        row = at_most(title, added * 1000, "ms", MAX_ADDED_MS) if is_promised else None
        rows.append(row or for_information(title, added * 1000, "ms"))
    return rows


def _plain(place: Path) -> float:
    program = shutil.which("bash") or "/bin/bash"
    started = time.perf_counter()
    subprocess.run([program, "-c", "true"], cwd=place, check=True)
    return time.perf_counter() - started


def _context(place: Path, choice: SandboxChoice, state: SessionState) -> ToolContext:
    async def nobody(*_: Any) -> Any:
        raise AssertionError

    temp = str(place / "temp")
    environment = child_environment(os.environ, extra={"TMPDIR": temp})
    workspace = Workspace(str(place / "project"))
    return ToolContext(
        call_id="bench",
        session=SessionView("bench", workspace, environment, sandbox=choice, temporary=temp),
        model=None,  # type: ignore[arg-type]
        cancelled=threading.Event(),
        progress=lambda _shown: None,
        state=state.get,
        call=nobody,
        ask=nobody,
        present=nobody,
    )
