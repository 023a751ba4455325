"""Counts calls and requests in SQLite: private, small, and never in anybody's way.

Whoever counts only puts something into a queue. A thread of its own writes it down; what it cannot
write is logged once and forgotten, because no call may fail for being counted.
"""

import contextlib
import logging
import os
import queue
import threading
import time
import uuid
from bisect import bisect_left
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from agent_cli.core.errors import FailureType, UserError
from agent_cli.core.events import Event, TurnStarted, UsageChanged
from agent_cli.core.log.store import CallRecord
from agent_cli.core.model import Usage
from agent_cli.core.money.statistics import BOUNDS, DayCounts, ModelCounts, Statistics, ToolCounts
from agent_cli.lib.files import private_directory
from agent_cli.lib.language import tr

if TYPE_CHECKING:
    import sqlite3

log = logging.getLogger(__name__)

T = TypeVar("T")

VERSION = 1
KEEP_DAYS = 400
MAX_WAITING = 10_000
CLOSE_TIMEOUT_S = 2.0
CATCH_UP_TIMEOUT_S = 0.5

_SCHEMA = """
CREATE TABLE IF NOT EXISTS calls (
    day TEXT, tool TEXT, executions INTEGER, successes INTEGER, failures INTEGER,
    denials INTEGER, seconds REAL, PRIMARY KEY (day, tool));
CREATE TABLE IF NOT EXISTS durations (
    day TEXT, tool TEXT, bucket INTEGER, calls INTEGER, PRIMARY KEY (day, tool, bucket));
CREATE TABLE IF NOT EXISTS requests (
    day TEXT, run TEXT, model TEXT, requests INTEGER, input INTEGER, output INTEGER,
    cached INTEGER, cache_write INTEGER, reasoning INTEGER, cost REAL, unpriced INTEGER,
    PRIMARY KEY (day, run, model));
CREATE TABLE IF NOT EXISTS registry (day TEXT PRIMARY KEY, tools INTEGER);
"""
_CALL = """
INSERT INTO calls VALUES (?, ?, 1, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
    executions = executions + 1, successes = successes + excluded.successes,
    failures = failures + excluded.failures, denials = denials + excluded.denials,
    seconds = seconds + excluded.seconds
"""
_DURATION = "INSERT INTO durations VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET calls = calls + 1"
_REQUEST = """
INSERT INTO requests VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
    requests = requests + 1, input = input + excluded.input, output = output + excluded.output,
    cached = cached + excluded.cached, cache_write = cache_write + excluded.cache_write,
    reasoning = reasoning + excluded.reasoning, cost = cost + excluded.cost,
    unpriced = unpriced + excluded.unpriced
"""
_REGISTRY = "INSERT OR REPLACE INTO registry VALUES (?, ?)"
_TOKENS = (
    "input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens"
)  # fmt: skip
_USED = (
    "sum(requests), sum(input), sum(output), sum(cached), sum(cache_write), sum(reasoning), "
    "sum(cost), sum(unpriced)"
)

Statement = tuple[str, tuple[Any, ...]]


class Metrics:
    """Takes part in one run of the program, beside others."""

    def __init__(
        self, path: Path, *, registry_size: Callable[[], int], today: Callable[[], date]
    ) -> None:
        self._path = path
        self._registry_size = registry_size
        self._today = today
        self._run = uuid.uuid4().hex[:12]
        self._waiting: queue.Queue[tuple[Statement, ...] | None] = queue.Queue(MAX_WAITING)
        self._thread: threading.Thread | None = None

    def record(self, record: CallRecord) -> None:
        """Count a call."""
        denied = record.error is FailureType.PERMISSION
        day, seconds = self._today().isoformat(), record.seconds
        counted = (record.success, not record.success, denied, seconds)
        self._put(
            (_CALL, (day, record.tool, *counted)),
            (_DURATION, (day, record.tool, bisect_left(BOUNDS, seconds))),
        )

    def see(self, event: Event) -> None:
        """Count what an event tells of."""
        day = self._today().isoformat()
        match event:
            case TurnStarted():
                self._put((_REGISTRY, (day, self._registry_size())))
            case UsageChanged(model=model, step=used):
                tokens = (getattr(used, name) for name in _TOKENS)
                row = (day, self._run, model, *tokens, used.cost or 0.0, used.unpriced)
                self._put((_REQUEST, row))

    def others_today(self) -> float:
        """The dollars that other runs of the program have spent today."""
        query = "SELECT coalesce(sum(cost), 0.0) FROM requests WHERE day = ? AND run != ?"
        values = (self._today().isoformat(), self._run)
        try:
            return _read(self._path, lambda db: float(db.execute(query, values).fetchone()[0]), 0.0)
        except UserError as error:
            log.warning("%s", error.message)
            return 0.0

    def statistics(self, since: date | None = None) -> Statistics:
        """What was counted, this run's own counts included."""
        deadline = time.monotonic() + CATCH_UP_TIMEOUT_S
        while self._waiting.unfinished_tasks and time.monotonic() < deadline:
            time.sleep(0.005)
        return read_statistics(self._path, since)

    def close(self) -> None:
        """Write down what waits, within a moment."""
        if self._thread is not None:
            with contextlib.suppress(queue.Full):
                self._waiting.put_nowait(None)
            self._thread.join(CLOSE_TIMEOUT_S)
            self._thread = None

    def _put(self, *statements: Statement) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._write, name="metrics", daemon=True)
            self._thread.start()
        with contextlib.suppress(queue.Full):
            self._waiting.put_nowait(statements)

    def _write(self) -> None:
        """The thread: one batch after the other, until told to end."""
        database = self._open()
        is_open = True
        while is_open:
            batch = [self._waiting.get()]
            with contextlib.suppress(queue.Empty):
                while True:
                    batch.append(self._waiting.get_nowait())
            is_open = None not in batch
            if database is not None:
                self._commit(database, [s for each in batch if each for s in each])
            for _ in batch:
                self._waiting.task_done()
        if database is not None:
            database.close()

    def _commit(self, database: "sqlite3.Connection", statements: list[Statement]) -> None:
        try:
            with database:
                for sql, values in statements:
                    database.execute(sql, values)
        except database.Error as error:
            log.warning("some counts are lost: %s", error)

    def _open(self) -> "sqlite3.Connection | None":
        import sqlite3  # noqa: PLC0415 (only when something is counted, and beside the program)

        try:
            private_directory(self._path.parent)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            os.close(os.open(self._path, flags, 0o600))
            database = sqlite3.connect(self._path, timeout=5)
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version > VERSION:
                log.warning("%s is of a newer version: nothing is counted", self._path)
                return None
            database.executescript(_SCHEMA)
            oldest = (self._today() - timedelta(days=KEEP_DAYS)).isoformat()
            with database:
                database.execute(f"PRAGMA user_version = {VERSION}")
                for table in ("calls", "durations", "requests", "registry"):
                    database.execute(f"DELETE FROM {table} WHERE day < ?", (oldest,))
        except (OSError, sqlite3.Error) as error:
            log.warning("nothing is counted: %s", error)
            return None
        return database


def read_statistics(path: Path, since: date | None = None) -> Statistics:
    """What was counted from a day on; raises UserError if it can't be read."""
    first = since.isoformat() if since else ""
    return _read(path, lambda database: _count(database, first), Statistics(since=first))


def _read(path: Path, read: "Callable[[sqlite3.Connection], T]", otherwise: T) -> T:
    """What is read from the database, `otherwise` if there is none; raises UserError."""
    import sqlite3  # noqa: PLC0415 (see above)

    if not path.is_file():
        return otherwise
    try:
        address = f"{path.absolute().as_uri()}?mode=ro"
        with contextlib.closing(sqlite3.connect(address, uri=True, timeout=5)) as database:
            return read(database)
    except sqlite3.Error as error:
        raise UserError(tr("Can't read {path}: {reason}.", path=path, reason=error)) from error


def _count(database: "sqlite3.Connection", first: str) -> Statistics:
    size = database.execute("SELECT tools FROM registry ORDER BY day DESC LIMIT 1").fetchone()
    return Statistics(
        since=first,
        tools=tuple(_tools(database, first)),
        models=tuple(_models(database, first)),
        days=tuple(_days(database, first)),
        registry_size=size[0] if size else None,
    )


def _tools(database: "sqlite3.Connection", first: str) -> Iterator[ToolCounts]:
    groups: dict[str, list[int]] = {}
    query = "SELECT tool, bucket, sum(calls) FROM durations WHERE day >= ? GROUP BY tool, bucket"
    for tool, bucket, calls in database.execute(query, (first,)):
        groups.setdefault(tool, [0] * (len(BOUNDS) + 1))[min(bucket, len(BOUNDS))] += calls
    query = (
        "SELECT tool, sum(executions), sum(successes), sum(failures), sum(denials), sum(seconds) "
        "FROM calls WHERE day >= ? GROUP BY tool ORDER BY 2 DESC, tool"
    )
    names = ("executions", "successes", "failures", "denials", "seconds")
    for tool, *counted in database.execute(query, (first,)):
        durations = {"durations": tuple(groups[tool])} if tool in groups else {}
        yield ToolCounts(tool=tool, **dict(zip(names, counted, strict=True)), **durations)


def _models(database: "sqlite3.Connection", first: str) -> Iterator[ModelCounts]:
    query = f"SELECT model, {_USED} FROM requests WHERE day >= ? GROUP BY model ORDER BY 2 DESC, 1"
    for model, requests, *used in database.execute(query, (first,)):
        yield ModelCounts(model=model, requests=requests, usage=_usage(*used))


def _days(database: "sqlite3.Connection", first: str) -> Iterator[DayCounts]:
    query = "SELECT day, sum(executions) FROM calls WHERE day >= ? GROUP BY day"
    calls = dict(database.execute(query, (first,)))
    query = f"SELECT day, {_USED} FROM requests WHERE day >= ? GROUP BY day"
    asked = {day: used for day, *used in database.execute(query, (first,))}
    for day in sorted({*calls, *asked}):
        requests, *used = asked.get(day, [0] * 8)
        yield DayCounts(day=day, calls=calls.get(day, 0), requests=requests, usage=_usage(*used))


def _usage(*used: float) -> Usage:
    """A sum; without anything of a known price there is no price either."""
    *tokens, cost, unpriced = used
    is_priced = cost > 0 or unpriced < tokens[0] + tokens[1]
    counted = dict(zip(_TOKENS, tokens, strict=True))
    return Usage(**counted, cost=cost if is_priced else None, unpriced_tokens=unpriced)
