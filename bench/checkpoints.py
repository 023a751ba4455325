"""Measures what a checkpoint costs before a command, in a repository of 50,000 files."""

import itertools
import os
import subprocess
import tempfile
from collections.abc import Callable
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
MANY = 5_000
NEW = 16_000
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

    def delete(self) -> None:
        """Delete many files."""
        for path in itertools.islice(sorted(self.root.rglob("*.py")), MANY):
            path.unlink()

    def create(self) -> None:
        """Create many files."""
        for number in range(NEW):
            path = self.root / f"new{number // 100}" / f"{number}.txt"
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"new {number}\n" * 10)

    def before(self) -> float:
        """Seconds for the checkpoint before a call, with some files edited since the last."""
        self.edit()
        taken = seconds(self.begin)
        self.store.after(f"call-{next(self.numbers) - 1}")
        return taken

    def around(self, change: Callable[[], None]) -> float:
        """Seconds for both looks around a call that does this."""
        names: list[str] = []
        taken = seconds(lambda: names.append(self.begin()))
        change()
        return taken + seconds(lambda: self.store.after(names[0]))


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
    both = samples({"ours": work.before, "git": status}, ROUNDS)
    gone = work.around(work.delete)
    new = work.around(work.create)
    work.store.close()
    return [
        at_most("Checkpoint against git status", ratio(both["ours"], both["git"]), "×", 1.5),
        at_most("Checkpoint when nothing changed", quiet * 1000, "ms", 1.5),
        for_information("The first checkpoint of a session", first * 1000, "ms"),
        at_most(f"Both looks around deleting {MANY:,} files", gone, "s", 3),
        at_most(f"Both looks around creating {NEW:,} files", new, "s", 3),
        at_most("The first checkpoint among 200,000 files", _in_a_large_one(directory), "s", 3),
    ]


def _in_a_large_one(directory: Path) -> float:
    work = _Work(directory / "large")
    for number in range(4):
        make_tree(work.root / str(number))
    work.git("init", "-q")
    work.git("config", "gc.auto", "0")
    work.git("add", "-A")
    work.git("commit", "-qm", "all")
    taken = seconds(work.begin)
    work.store.close()
    return taken


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
