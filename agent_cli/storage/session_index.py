"""Lists and searches sessions: an SQLite database that is made from the logs and can be lost.

Each time it is opened it looks at the sizes and times of the logs, and reads what is new of those
that grew. If it is missing, damaged or of another version, it is rebuilt. While another program
writes to it, a list shows what is known already.
"""

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from itertools import starmap
from pathlib import Path
from typing import NamedTuple, TypeVar

from agent_cli.core.errors import UserError
from agent_cli.lib.files import private_directory
from agent_cli.lib.language import tr
from agent_cli.storage.log_digest import Digest, digest, searchable
from agent_cli.storage.session_log import is_session_id, read_bytes

T = TypeVar("T")

SCHEMA = 1
READ_TIMEOUT_S = 1.0
"""How long a list waits for another program that writes, before it makes do with what is known."""
REFRESH_TIMEOUT_S = 5.0
"""How long whoever needs the newest state waits for another program that writes."""
MAX_MATCHES = 2_000
"""Messages looked at for one search, newest first."""

_TABLES = """
CREATE TABLE sessions (
    id TEXT PRIMARY KEY, workspace TEXT NOT NULL, title TEXT NOT NULL, prompt TEXT NOT NULL,
    model TEXT NOT NULL, forked_from TEXT NOT NULL, created REAL NOT NULL, updated REAL NOT NULL,
    turns INTEGER NOT NULL, messages INTEGER NOT NULL, cost REAL,
    size INTEGER NOT NULL, mtime INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX by_time ON sessions (updated);
CREATE VIRTUAL TABLE words USING fts5(
    text, session UNINDEXED, tokenize = "unicode61 remove_diacritics 2", prefix = '3'
);
"""
_COLUMNS = (
    "id, workspace, title, prompt, model, forked_from, created, updated, "
    "turns, messages, cost, size"
)


class SessionInfo(NamedTuple):
    """What a list tells about a session; a tuple, for there are thousands of them."""

    id: str
    workspace: str
    title: str
    prompt: str
    """The beginning of the first prompt."""
    model: str
    forked_from: str
    created: float
    updated: float
    turns: int
    messages: int
    cost: float | None
    size: int
    snippet: str = ""
    """Where the words that were searched for stand, between \\x02 and \\x03."""

    @property
    def name(self) -> str:
        """The title, or what is shown without one."""
        return self.title or self.prompt or tr("(empty)")


class SessionIndex:
    """The sessions of a directory of logs, newest first."""

    def __init__(self, logs: Path, file: Path) -> None:
        self._logs = logs
        self._file = file

    def listing(self, workspace: str | None = None, limit: int | None = None) -> list[SessionInfo]:
        """All sessions, or those of one directory."""
        where, values = ("WHERE workspace = ?", [workspace]) if workspace else ("", [])
        query = f"SELECT {_COLUMNS} FROM sessions {where} ORDER BY updated DESC LIMIT ?"
        bound = [*values, -1 if limit is None else limit]
        return self._with(lambda db: [*starmap(SessionInfo, db.execute(query, bound))])

    def search(self, text: str, workspace: str | None = None, limit: int = 50) -> list[SessionInfo]:
        """The sessions in which all these words were said, with a place: in one message if any
        has them all, otherwise in several."""
        words = _words(text)
        if not words:
            return []
        return self._with(
            lambda db: (
                list(_find(db, " ".join(words), _places(db, " ".join(words)), workspace, limit))
                or list(_find(db, words[0], _find_scattered(db, words), workspace, limit))
            )
        )

    def refresh(self) -> None:
        """Read what is new; raises UserError if another program writes for too long."""
        self._with(lambda _db: None, may_be_old=False)

    def _with(self, use: Callable[[sqlite3.Connection], T], *, may_be_old: bool = True) -> T:
        try:
            try:
                return self._use(use, may_be_old=may_be_old)
            except sqlite3.DatabaseError as error:
                if _is_of_machine(error):
                    raise
                self._remove()
            return self._use(use, may_be_old=may_be_old)
        except (sqlite3.Error, OSError) as error:
            if _is_locked(error):
                said = tr("Another agent is updating the session list.")
                raise UserError(said, hint=tr("Try again in a moment.")) from error
            why = getattr(error, "strerror", None) or error
            said = tr("Sessions can't be listed right now: {error}", error=why)
            raise UserError(said) from error

    def _use(self, use: Callable[[sqlite3.Connection], T], *, may_be_old: bool) -> T:
        timeout = READ_TIMEOUT_S if may_be_old else REFRESH_TIMEOUT_S
        with contextlib.closing(self._connect(timeout)) as database:
            try:
                _refresh(database, self._logs)
            except sqlite3.OperationalError as error:
                if not (may_be_old and _is_locked(error) and _holds_any(database)):
                    raise
            return use(database)

    def _connect(self, timeout: float) -> sqlite3.Connection:
        private_directory(self._file.parent)
        os.close(os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        database = sqlite3.connect(self._file, timeout=timeout, isolation_level=None)
        try:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = OFF")  # it can be rebuilt
            if database.execute("PRAGMA user_version").fetchone()[0] != SCHEMA:
                _make_tables(database)
        except BaseException:
            database.close()
            raise
        return database

    def _remove(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            Path(f"{self._file}{suffix}").unlink(missing_ok=True)


_OF_MACHINE = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PERM,
    }
)
"""What is wrong with the disk or with other programs, not with the database."""


def _is_of_machine(error: sqlite3.Error) -> bool:
    return (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _OF_MACHINE


def _is_locked(error: Exception) -> bool:
    return isinstance(error, sqlite3.OperationalError) and "locked" in str(error)


def _holds_any(database: sqlite3.Connection) -> bool:
    return bool(database.execute("SELECT EXISTS (SELECT 1 FROM sessions)").fetchone()[0])


def _make_tables(database: sqlite3.Connection) -> None:
    with _transaction(database):
        if database.execute("PRAGMA user_version").fetchone()[0] == SCHEMA:
            return  # another program was faster
        for name in ("sessions", "words"):
            database.execute(f"DROP TABLE IF EXISTS {name}")
        for statement in _TABLES.split(";"):
            database.execute(statement)
        database.execute(f"PRAGMA user_version = {SCHEMA}")


@contextlib.contextmanager
def _transaction(database: sqlite3.Connection) -> Iterator[None]:
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if database.in_transaction:  # a full disk ends it
            database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def _refresh(database: sqlite3.Connection, logs: Path) -> None:
    """Bring the index up to date with the logs."""
    found = _stamps(logs)
    rows = database.execute("SELECT id, size, mtime FROM sessions")
    known = {name: tuple(stamp) for name, *stamp in rows}
    if found == known:
        return
    changed = [name for name, stamp in found.items() if known.get(name) != stamp]
    changed.sort(key=lambda name: found[name][1])
    with _transaction(database):
        for name in known.keys() - found.keys():
            _forget(database, name)
        for name in changed:
            with contextlib.suppress(OSError):  # it went away meanwhile, or cannot be read
                _read(database, logs, name, found[name])


def _stamps(logs: Path) -> dict[str, tuple[int, int]]:
    """Size and time of each log that holds anything."""
    found = {}
    with contextlib.suppress(FileNotFoundError), os.scandir(logs) as files:
        for file in files:
            name = file.name.removesuffix(".jsonl")
            if name != file.name and is_session_id(name) and file.is_file(follow_symlinks=False):
                stat = file.stat(follow_symlinks=False)
                if stat.st_size:
                    found[name] = (stat.st_size, stat.st_mtime_ns)
    return found


def _forget(database: sqlite3.Connection, name: str) -> None:
    database.execute("DELETE FROM sessions WHERE id = ?", [name])
    database.execute("DELETE FROM words WHERE session = ?", [name])


def _read(database: sqlite3.Connection, logs: Path, name: str, stamp: tuple[int, int]) -> None:
    """Read a log from where it was read the last time; from the start if it is not the same."""
    query = f"SELECT {_COLUMNS} FROM sessions WHERE id = ?"
    row = database.execute(query, [name]).fetchone()
    before = SessionInfo(*row) if row else None
    start = before.size if before else 0
    data = read_bytes(logs / f"{name}.jsonl", max(0, start - 1), stamp[0])
    if start and not data.startswith(b"\n"):  # it shrank, or ended in half a line
        _forget(database, name)
        before = None
        data = read_bytes(logs / f"{name}.jsonl", 0, stamp[0])
    news = digest(data.split(b"\n"))
    texts = [(text, name) for text in news.texts]
    database.executemany("INSERT INTO words (text, session) VALUES (?, ?)", texts)
    database.execute(
        f"INSERT OR REPLACE INTO sessions ({_COLUMNS}, mtime) VALUES ({', '.join('?' * 13)})",
        [name, *_row(before, news, stamp), stamp[1]],
    )


def _row(before: SessionInfo | None, news: Digest, stamp: tuple[int, int]) -> tuple[object, ...]:
    """The columns after the id: what was known, and what the new lines add to it."""
    old = before or Digest(created=news.created)
    costs = [cost for cost in (old.cost, news.cost) if cost is not None]
    return (
        old.workspace or news.workspace,
        news.title or old.title,
        old.prompt or news.prompt,
        news.model or old.model,
        old.forked_from or news.forked_from,
        old.created,
        news.updated or old.updated,
        max(news.turns, old.turns),
        news.messages + old.messages,
        sum(costs) if costs else None,
        stamp[0],
    )


def _words(text: str) -> list[str]:
    """What FTS5 is to look for: each word as the beginning of one."""
    words = searchable(text).replace('"', " ").split()
    return [f'"{word}"*' for word in words if any(map(str.isalnum, word))]


def _places(database: sqlite3.Connection, match: str, most: int = MAX_MATCHES) -> dict[str, int]:
    """The newest place in each session."""
    places: dict[str, int] = {}
    newest = "SELECT session, rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?"
    for session, place in database.execute(newest, [match, most]):
        places.setdefault(session, place)
    return places


def _find_scattered(database: sqlite3.Connection, words: list[str]) -> dict[str, int]:
    """The sessions that have each word somewhere, with the place of the first one."""
    first, *others = (_places(database, word, 10 * MAX_MATCHES) for word in words)
    return {name: place for name, place in first.items() if all(name in each for each in others)}


def _find(
    database: sqlite3.Connection,
    match: str,
    places: dict[str, int],
    workspace: str | None,
    limit: int,
) -> Iterator[SessionInfo]:
    query = f"SELECT {_COLUMNS} FROM sessions WHERE id = ? AND (? IS NULL OR workspace = ?)"
    for session, place in places.items():
        if row := database.execute(query, [session, workspace, workspace]).fetchone():
            yield SessionInfo._make((*row, _snippet(database, match, place)))
            if (limit := limit - 1) <= 0:
                return


def _snippet(database: sqlite3.Connection, match: str, place: int) -> str:
    query = (
        "SELECT snippet(words, 0, char(2), char(3), '…', 16) FROM words "
        "WHERE words MATCH ? AND rowid = ?"
    )
    row = database.execute(query, [match, place]).fetchone()
    return " ".join(row[0].replace("\u200b ", "").split()) if row else ""
