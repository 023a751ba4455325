"""Measures what a checkpoint costs before a command, in a repository of 50,000 files."""

import itertools
import os
import subprocess
import tempfile
from functools import partial
from pathlib import Path

from agent_cli.core.undo.checkpoint import UpcomingCall
from agent_cli.storage.checkpoint.quota import sessions
from agent_cli.storage.checkpoint_store import CheckpointStore
from bench.rows import Row, at_most, for_information
from bench.search import make_tree
from bench.timing import medians, ratio, samples, seconds

ROUNDS = 15
CHANGED = 10
CALLS = 1_000
QUOTA = 20_000_000


def run() -> list[Row]:
    """A repository that is worked on, and a thousand calls within a small quota."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name).resolve()
        return [*_costs(directory), _within_quota(directory / "small")]


class _Work:
    """A repository, its checkpoints, and a person who edits."""

    def __init__(self, directory: Path, quota: int = 1_000_000_000) -> None:
        self.root = directory / "project"
        self.root.mkdir(parents=True)
        self.kept = directory / "kept"
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(directory)}
        self.store = CheckpointStore(
            self.kept, "bench", roots=[str(self.root)], home=str(directory / "home"),
            environment=self.environment, quota=quota,
        )  # fmt: skip
        self.numbers = itertools.count()

    def git(self, *words: str) -> None:
        who = ("-c", "user.name=bench", "-c", "user.email=bench@example.org")
        subprocess.run(
            ["git", *who, *words], cwd=self.root, env=self.environment, check=True,
            capture_output=True,
        )  # fmt: skip

    def begin(self) -> str:
        name = f"call-{next(self.numbers)}"
        self.store.before(UpcomingCall(call_id=name, turn=1, tool="Bash", title="", paths=None))
        return name

    def edit(self) -> None:
        number = next(self.numbers)
        for each in range(CHANGED):
            path = self.root / f"pkg{each:02}" / f"mod{each:04}" / f"file{number % 100:02}.py"
            path.write_text(f"edited = {number}\n")

    def before(self, *, watched: bool = True) -> float:
        """Seconds for the checkpoint before a call, with some files edited since the last."""
        self.edit()
        if not watched:
            self.store._open().trees.close()
        taken = seconds(self.begin)
        self.store.after(f"call-{next(self.numbers) - 1}")
        return taken


def _costs(directory: Path) -> list[Row]:
    work = _Work(directory)
    make_tree(work.root)
    work.git("init", "-q")
    work.git("config", "gc.auto", "0")  # it would go on beside what is measured, and after it
    work.git("add", "-A")
    work.git("commit", "-qm", "all")
    status = partial(seconds, lambda: work.git("status", "--porcelain"))
    work.git("status")
    first = seconds(work.begin)
    work.begin()
    quiet = medians({"quiet": lambda: seconds(work.begin)}, ROUNDS)["quiet"]
    watched = samples({"ours": work.before, "git": status}, ROUNDS)
    full = samples({"ours": lambda: work.before(watched=False), "git": status}, ROUNDS)
    work.store.close()
    return [
        at_most("Checkpoint against git status", ratio(watched["ours"], watched["git"]), "×", 1.5),
        at_most("Checkpoint when nothing changed", quiet * 1000, "ms", 20),
        for_information(
            "… where the kernel tells nothing (a full look)", ratio(full["ours"], full["git"]), "×"
        ),
        for_information("The first checkpoint of a session", first * 1000, "ms"),
    ]


def _within_quota(directory: Path) -> Row:
    """The most that was on the disk at any time, as a share of the quota."""
    work = _Work(directory, QUOTA)
    path, most = work.root / "data.bin", 0
    for _ in range(CALLS):
        call = work.begin()
        path.write_bytes(os.urandom(200_000))
        work.store.after(call)
        most = max(most, sum(each.bytes for each in sessions(work.kept)))
    work.store.close()
    return at_most(f"Disk used under {CALLS:,} calls", most / QUOTA * 100, "% of the quota", 100)
