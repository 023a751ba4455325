"""What it costs to run a command in each sandbox that works here."""

import asyncio
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from agent_cli.safety.paths import Workspace
from agent_cli.safety.sandbox import Sandbox, SandboxUnavailable, Setting, Tier, confinement_for
from agent_cli.safety.sandbox.tiers import find_sandbox
from bench.rows import Row, at_most, for_information
from bench.timing import ratio, samples, seconds

ROUNDS = 25
MOST_STARTS = 3.0
"""What confinement may add to a command, in starts of a bare Python: those vary as it does."""

SETTINGS: tuple[Setting, ...] = ("bwrap", "landlock")
COMMAND = ("/bin/bash", "--noprofile", "--norc", "-c", ":")


def run() -> list[Row]:
    """Time a shell that does nothing, unconfined and confined, in a small repository."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
        place = Path(directory)
        (place / "project" / ".git" / "hooks").mkdir(parents=True)
        (place / "temp").mkdir()
        sandboxes = [Sandbox(Tier.NONE, "unconfined"), *_working()]
        rivals = {sandbox.reason: _confined(sandbox, place) for sandbox in sandboxes}
        taken = samples({**rivals, "python": lambda: seconds(_start_python)}, ROUNDS)
    bare, python = taken.pop("unconfined"), taken.pop("python")
    rows = [for_information("bash -c :", statistics.median(bare) * 1000, "ms")]
    for name, values in taken.items():
        added = [own - other for own, other in zip(values, bare, strict=True)]
        rows.append(for_information(f"added by {name}", statistics.median(added) * 1000, "ms"))
        starts = ratio(added, python)
        rows.append(at_most(f"added by {name} / python -I -S -c pass", starts, "×", MOST_STARTS))
    return rows


def _start_python() -> None:
    subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], check=True)


def _working() -> list[Sandbox]:
    found = []
    for setting in SETTINGS:
        try:
            found.append(asyncio.run(find_sandbox(setting)))
        except SandboxUnavailable as problem:
            print(problem.message)
    return found


def _confined(sandbox: Sandbox, place: Path) -> Callable[[], float]:
    """All that one command costs: looking at the workspace, the masks, the process."""
    workspace = Workspace(str(place / "project"))

    def work() -> None:
        confinement = confinement_for(workspace, temp=str(place / "temp"))
        with sandbox.room(confinement) as room:
            argv = room.wrap(COMMAND, cwd=workspace.root)
            subprocess.run(argv, cwd=workspace.root, check=True)

    return lambda: seconds(work)
