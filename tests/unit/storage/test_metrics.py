"""What is counted, and that counting is in nobody's way."""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from agent_cli.core.errors import FailureType, UserError
from agent_cli.core.events import TurnStarted, UsageChanged
from agent_cli.core.log.store import CallRecord
from agent_cli.core.model import Usage
from agent_cli.storage.metrics import Metrics, read_statistics

DAY = date(2026, 3, 1)


def made(path: Path, day: date = DAY) -> Metrics:
    return Metrics(path, registry_size=lambda: 18, today=lambda: day)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "stats.db"


@pytest.fixture
def metrics(path: Path) -> Iterator[Metrics]:
    metrics = made(path)
    yield metrics
    metrics.close()


def call(tool: str = "Read", seconds: float = 0.02, error: FailureType | None = None) -> CallRecord:
    return CallRecord(
        session_id="s", call_id="c", tool=tool, success=error is None, error=error, seconds=seconds
    )


def used(model: str = "a/b", cost: float | None = 0.5, tokens: int = 100) -> UsageChanged:
    usage = Usage(input_tokens=tokens, output_tokens=10, cached_tokens=5, cost=cost)
    return UsageChanged(model=model, step=usage, total=usage)


def test_calls_are_counted_by_tool(metrics: Metrics, path: Path) -> None:
    for seconds in (0.005, 0.02, 0.02, 999.0):
        metrics.record(call(seconds=seconds))
    metrics.record(call("Bash", error=FailureType.PERMISSION))
    metrics.record(call("Bash", error=FailureType.EXECUTION))
    metrics.see(TurnStarted(session_id="s", turn=1, prompt="", model="a/b"))
    metrics.close()
    statistics = read_statistics(path)
    read, bash = statistics.tools
    assert (read.executions, read.successes, read.failures, read.denials) == (4, 4, 0, 0)
    assert (bash.executions, bash.successes, bash.failures, bash.denials) == (2, 0, 2, 1)
    assert read.durations[:2] == (1, 2)
    assert read.within(0.5) == 0.03
    assert read.within(0.95) is None
    assert statistics.registry_size == 18


def test_tokens_and_dollars_are_counted_by_model_and_day(path: Path) -> None:
    for day in (DAY, date(2026, 3, 2)):
        metrics = made(path, day)
        metrics.see(used())
        metrics.see(used())
        metrics.see(used("c/unknown", None))
        metrics.close()
    statistics = read_statistics(path)
    known, unknown = statistics.models
    assert (known.model, known.requests, known.usage.cost) == ("a/b", 4, 2.0)
    assert known.usage.input_tokens == 400
    assert unknown.usage.cost is None
    assert [(day.day, day.requests, day.usage.cost) for day in statistics.days] == [
        ("2026-03-01", 3, 1.0),
        ("2026-03-02", 3, 1.0),
    ]
    assert len(read_statistics(path, date(2026, 3, 2)).days) == 1


def test_what_others_spent_today_leaves_out_this_run(path: Path) -> None:
    mine, other, yesterday = made(path), made(path), made(path, date(2026, 2, 28))
    for each in (mine, other, yesterday):
        each.see(used(cost=0.25))
        each.close()
    assert mine.others_today() == 0.25
    assert made(path).others_today() == 0.5


def test_nobody_else_can_read_it(metrics: Metrics, path: Path) -> None:
    metrics.record(call())
    metrics.close()
    assert path.stat().st_mode & 0o777 == 0o600
    with sqlite3.connect(path) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_several_programs_count_at_once(path: Path) -> None:
    def count() -> None:
        metrics = made(path)
        for _ in range(50):
            metrics.record(call())
            metrics.see(used(cost=1.0))
        metrics.close()

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    statistics = read_statistics(path)
    assert statistics.tools[0].executions == 200
    assert statistics.models[0].usage.cost == 200


def test_counting_does_not_wait_for_the_disk(metrics: Metrics, path: Path) -> None:
    metrics.record(call())
    assert metrics.statistics().tools[0].executions == 1
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        fastest = min(_timed(metrics) for _ in range(20))
    finally:
        holder.execute("ROLLBACK")
        holder.close()
    assert fastest < 0.001
    metrics.close()
    assert read_statistics(path).tools[0].executions == 21


def _timed(metrics: Metrics) -> float:
    start = time.perf_counter()
    metrics.record(call())
    return time.perf_counter() - start


@pytest.mark.parametrize("state", ["garbage", "directory", "newer", "link"])
def test_a_database_that_cannot_be_used_fails_nobody(path: Path, state: str) -> None:
    path.parent.mkdir()
    target = path.parent / "target"
    if state == "garbage":
        path.write_bytes(os.urandom(5000))
    elif state == "directory":
        path.mkdir()
    elif state == "newer":
        with sqlite3.connect(path) as database:
            database.execute("PRAGMA user_version = 99")
    else:
        path.symlink_to(target)
    metrics = made(path)
    metrics.record(call())
    metrics.see(used())
    metrics.close()
    assert metrics.others_today() == 0
    if state in ("garbage", "newer"):
        with pytest.raises(UserError, match="Can't read"):
            read_statistics(path)
    else:
        assert read_statistics(path).tools == ()
    assert not target.exists()
