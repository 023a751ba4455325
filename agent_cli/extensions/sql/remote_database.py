"""Queries PostgreSQL and MySQL through their drivers, where these are installed.

Reading runs in a read-only transaction, one statement at a time. What such a transaction does not
stop (a program or a file on the server's side, given the rights) is refused by its words; an
account that may only read is the better half of it.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.extensions.sql.rows import Rows
from agent_cli.extensions.sql.statement import Statement

CONNECT_TIMEOUT_S = 10
# A comment within a comment ends in one place for PostgreSQL and in another for MySQL: then there
# is no first word.
_FIRST_WORD = re.compile(
    r"(?:\s|--[^\n]*(?:\n|$)|/\*(?![!+])(?:(?!/\*|\*/).)*+\*/|\()*([a-z]+)", re.DOTALL | re.I
)
_READING = frozenset({"select", "with", "values", "table", "show", "explain", "describe", "desc"})
_SELECTS = frozenset({"select", "with", "values", "table"})
_FILES = re.compile(r"\b(outfile|dumpfile|load_file)\b|/\*!", re.IGNORECASE)


def query_postgres(url: str, statement: Statement) -> Rows:
    """Run the statement; it blocks."""
    _refuse_writing(statement)
    psycopg = _driver("psycopg", "postgres")
    wait = max(int(statement.left * 1000), 1)
    try:
        with psycopg.connect(
            url,
            connect_timeout=CONNECT_TIMEOUT_S,
            options=f"-c statement_timeout={wait}",
            application_name="agent",
        ) as connection:
            connection.read_only = not statement.is_write
            if _first_word(statement.query) in _SELECTS and not statement.is_write:
                # A cursor on the server: no more rows come over than are wanted.
                cursor = connection.cursor(name="agent")
                cursor.execute(statement.query)
            else:
                cursor = connection.cursor()
                cursor.execute(statement.query, prepare=True)  # which takes one statement only
            rows = _fetch(cursor, statement)
            if not statement.is_write:
                connection.rollback()  # whatever a function did in passing
            return rows
    except psycopg.errors.QueryCanceled as error:
        raise statement.too_long() from error
    except psycopg.Error as error:
        raise ToolFailure(f"PostgreSQL says: {str(error).strip()}") from error


def query_mysql(url: str, statement: Statement) -> Rows:
    """Run the statement; it blocks."""
    _refuse_writing(statement)
    pymysql = _driver("pymysql", "mysql")
    wait = max(statement.left, 1.0)
    try:
        with pymysql.connect(
            **_mysql_account(url),
            connect_timeout=CONNECT_TIMEOUT_S,
            read_timeout=wait,
            write_timeout=wait,
            charset="utf8mb4",
            local_infile=False,
            cursorclass=pymysql.cursors.SSCursor,
        ) as connection:
            cursor = connection.cursor()
            if "MariaDB" in connection.get_server_info():
                cursor.execute(f"SET SESSION max_statement_time = {wait:.3f}")
            else:
                cursor.execute(f"SET SESSION max_execution_time = {int(wait * 1000)}")
            if not statement.is_write:
                cursor.execute("SET SESSION TRANSACTION READ ONLY")
                cursor.execute("START TRANSACTION READ ONLY")
            cursor.execute(statement.query)
            rows = _fetch(cursor, statement)
            if statement.is_write:
                connection.commit()
            return rows
    except pymysql.err.OperationalError as error:
        if statement.is_over:
            raise statement.too_long() from error
        raise ToolFailure(f"MySQL says: {error}") from error
    except pymysql.MySQLError as error:
        raise ToolFailure(f"MySQL says: {error}") from error


def host_of(url: str) -> str:
    """Where the database runs; a local socket is this machine."""
    parts = urlsplit(url)
    return (parts.hostname or dict(parse_qsl(parts.query)).get("host") or "localhost").lower()


def _refuse_writing(statement: Statement) -> None:
    """A statement that is not known to read, in words the model can act upon."""
    if statement.is_write:
        return
    if _first_word(statement.query) not in _READING or _FILES.search(statement.query):
        raise ToolFailure(
            "Only read statements are allowed (SELECT, WITH, VALUES, SHOW, EXPLAIN, DESCRIBE). "
            "To change the database, call again with write=true; the user will be asked.",
            type=FailureType.PERMISSION,
        )


def _first_word(query: str) -> str:
    found = _FIRST_WORD.match(query)
    return found[1].lower() if found else ""


def _driver(module: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise ToolFailure(
            f"The driver {module} is not installed. The user can add it with: pip "
            f"install 'agent-cli[{extra}]'"
        ) from error


def _fetch(cursor: Any, statement: Statement) -> Rows:
    if cursor.description is None:
        return Rows(changed=cursor.rowcount if cursor.rowcount >= 0 else None)
    found = cursor.fetchmany(statement.most_rows + 1)
    columns = (column[0] for column in cursor.description)
    return Rows.of(columns, found, statement.most_rows, statement.query)


def _mysql_account(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    return {
        "host": host_of(url),
        "port": parts.port or 3306,
        "user": unquote(parts.username or ""),
        "password": unquote(parts.password or ""),
        "database": unquote(parts.path.lstrip("/")) or None,
    }
