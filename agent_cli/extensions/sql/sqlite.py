"""Queries SQLite files; reading is held to it by the connection, a switch and an allow-list."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from urllib.parse import quote

from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.extensions.sql.rows import Rows
from agent_cli.extensions.sql.statement import Statement
from agent_cli.lib.files import NotRegularFile, open_direct
from agent_cli.safety.tokens import words

MAGIC = b"SQLite format 3\0"
STEPS = 5_000
"""Of SQLite's machine between two looks at the clock."""
BUSY_TIMEOUT_S = 5.0
MAX_VALUE_BYTES = 10_000_000
"""Bytes of one value or row, also of one on the way."""

_READS = frozenset(
    {
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_RECURSIVE,
        # Full-text and other virtual tables prepare these when they are opened for reading; to
        # run one is what the connection refuses.
        sqlite3.SQLITE_INSERT,
        sqlite3.SQLITE_UPDATE,
        sqlite3.SQLITE_DELETE,
    }
)
_NEVER = frozenset({sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH})
_NEVER_CALLED = frozenset({"load_extension", "fts3_tokenizer", "writefile", "readfile", "edit"})
_REFUSALS = ("not authorized", "authorization denied", "prohibited", "attached", "readonly")
_TELLING = words(
    "table_info table_xinfo table_list index_list index_info index_xinfo foreign_key_list"
    " database_list collation_list function_list module_list pragma_list compile_options"
    " integrity_check quick_check foreign_key_check data_version"
)
"""Pragmas that only tell, whatever they are given."""
_TELLING_IF_BARE = words(
    "user_version application_id schema_version page_count page_size encoding"
    " freelist_count journal_mode auto_vacuum foreign_keys"
)
"""Pragmas that tell, but set something when they are given a value."""


def query_file(path: str, statement: Statement) -> Rows:
    """Run the statement; it blocks, and stops when the statement is over."""
    _check(path)
    mode = "rw" if statement.is_write else "ro"
    try:
        with closing(
            sqlite3.connect(
                f"file:{quote(path)}?mode={mode}",
                uri=True,
                timeout=min(BUSY_TIMEOUT_S, max(statement.left, 0.0)),
                isolation_level=None,
            )
        ) as connection:
            _bind(connection, statement)
            return _run(connection, statement)
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise _explain(error, statement) from error


def _check(path: str) -> None:
    """Neither a pipe nor a device is opened, nor is a file made that is not there."""
    try:
        descriptor = open_direct(path)
    except FileNotFoundError as error:
        said = f"There is no file {path}."
        raise ToolFailure(said, type=FailureType.VALIDATION) from error
    except (NotRegularFile, OSError) as error:
        raise ToolFailure(f"Cannot open {path}: {error}.") from error
    with os.fdopen(descriptor, "rb") as file:
        start = file.read(len(MAGIC))
    if start and start != MAGIC:
        raise ToolFailure(
            f"{path} is not a SQLite database (or is encrypted).", type=FailureType.VALIDATION
        )


def _bind(connection: sqlite3.Connection, statement: Statement) -> None:
    """Take away what is not wanted, then never let it come back."""
    connection.execute("PRAGMA trusted_schema = OFF")
    if not statement.is_write:
        connection.execute("PRAGMA query_only = ON")
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    connection.set_authorizer(_authorizer(is_write=statement.is_write))
    connection.set_progress_handler(lambda: statement.is_over, STEPS)


def _authorizer(*, is_write: bool) -> Callable[..., int]:
    def decide(
        action: int, first: str | None, second: str | None, _where: str | None, _by: str | None
    ) -> int:
        if action == sqlite3.SQLITE_FUNCTION:
            is_fine = (second or "").lower() not in _NEVER_CALLED
        elif action == sqlite3.SQLITE_PRAGMA:
            is_fine = _tells((first or "").lower(), second)
        else:
            is_fine = action in _READS or (is_write and action not in _NEVER)
        return sqlite3.SQLITE_OK if is_fine else sqlite3.SQLITE_DENY

    return decide


def _tells(pragma: str, value: str | None) -> bool:
    return pragma in _TELLING or (pragma in _TELLING_IF_BARE and value is None)


def _run(connection: sqlite3.Connection, statement: Statement) -> Rows:
    before = connection.total_changes
    cursor = connection.execute(statement.query)
    if cursor.description is None:
        return Rows(changed=connection.total_changes - before)
    found = cursor.fetchmany(statement.most_rows + 1)
    if statement.is_write:  # a RETURNING clause changes all rows only when it is read to its end
        while cursor.fetchmany(1_000):
            pass
    columns = (column[0] for column in cursor.description)
    return Rows.of(columns, found, statement.most_rows, statement.query)


def _explain(error: Exception, statement: Statement) -> ToolFailure:
    said = str(error)
    if "interrupted" in said and statement.is_over:
        return statement.too_long()
    if "one statement at a time" in said:
        return ToolFailure("Only one statement can be run per call.", type=FailureType.VALIDATION)
    if any(refusal in said for refusal in _REFUSALS):
        return ToolFailure(f"The query was refused: {said}. {_why(statement)}")
    return ToolFailure(f"SQLite says: {said}.")


def _why(statement: Statement) -> str:
    if statement.is_write:
        return "ATTACH, VACUUM, loading extensions and most pragmas are not allowed."
    return (
        "Only read statements are allowed; to change the database, call again with write=true; the "
        "user will be asked. ATTACH, loading extensions and most pragmas are never allowed."
    )
