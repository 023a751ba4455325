"""Databases elsewhere: what is refused before anything is sent, and what is told."""

import importlib.util
import threading

import pytest

from agent_cli.core.errors import ToolFailure
from agent_cli.extensions.sql.remote_database import host_of, query_mysql, query_postgres
from agent_cli.extensions.sql.statement import Statement

NOWHERE = "postgresql://u:p@127.0.0.1:1/x"


def statement(query: str, *, is_write: bool = False) -> Statement:
    return Statement(query, is_write, most_rows=10, seconds=5.0, cancelled=threading.Event())


@pytest.mark.parametrize("run", [query_postgres, query_mysql])
@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM item",
        "  -- SELECT\nDELETE FROM item",
        "/* SELECT */ DELETE FROM item",
        "/* /* */ SELECT */ COPY (SELECT 1) TO PROGRAM 'touch x'",
        "COPY item TO '/tmp/x'",
        "DO $$ BEGIN END $$",
        "CALL everything()",
        "SET TRANSACTION READ WRITE",
        "COMMIT",
        "SELECT 1 INTO/**/OUTFILE '/tmp/x'",
        "SELECT load_file('/etc/passwd')",
        "/*!50000 DELETE FROM item */",
        "SELECT 1 /*! INTO OUTFILE '/tmp/x' */",
        "",
        "--",
        "(",
    ],
)
def test_what_is_not_known_to_read_is_refused(run: object, query: str) -> None:
    assert callable(run)
    with pytest.raises(ToolFailure, match="call again with write=true"):
        run(NOWHERE, statement(query))


@pytest.mark.parametrize(
    "query",
    ["select 1", "-- x\n/* y */ (SELECT 1)", "WITH x AS (SELECT 1) SELECT 2", "show tables"],
)
@pytest.mark.parametrize(
    ("run", "driver", "extra"),
    [(query_postgres, "psycopg", "postgres"), (query_mysql, "pymysql", "mysql")],
)
def test_what_reads_is_sent_or_the_missing_driver_is_named(
    run: object, driver: str, extra: str, query: str
) -> None:
    assert callable(run)
    is_there = importlib.util.find_spec(driver) is not None
    said = "says:" if is_there else rf"pip install 'agent-cli\[{extra}\]'"
    with pytest.raises(ToolFailure, match=said):
        run(NOWHERE, statement(query))


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("postgresql://u:p@DB.example:5433/x", "db.example"),
        ("postgresql:///x?host=db.example", "db.example"),
        ("postgresql:///x", "localhost"),
        ("mysql://db.example/x", "db.example"),
    ],
)
def test_the_host_is_known(url: str, host: str) -> None:
    assert host_of(url) == host
