"""SqlQuery in a real session, on real SQLite files."""

import asyncio
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agent_cli.core.display import TableBlock
from agent_cli.core.events import ApprovalAsked
from agent_cli.core.inbox import Approval
from agent_cli.core.tool import ToolResult
from tests.kit.extensions import extended
from tests.kit.sessions import SceneMaker, of_type, results
from tests.kit.shells import until

ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) "


def ask(query: str, database: str = "shop.db", **more: Any) -> dict[str, Any]:
    arguments = {"database": database, "query": query, **more}
    return {"calls": [{"name": "SqlQuery", "arguments": arguments}]}


def make_shop(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            """
            CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, picture BLOB);
            INSERT INTO item VALUES (1, 'tea | pot', x'00ff'), (2, 'cup' || char(10) || 'x', NULL);
            CREATE VIEW names AS SELECT name FROM item;
            CREATE VIRTUAL TABLE words USING fts5(text);
            INSERT INTO words VALUES ('green tea'), ('black coffee');
            """
        )
    return path


@pytest.fixture
def shop(make_session: SceneMaker) -> Path:
    return make_shop(make_session.workspace / "shop.db")


async def played(
    make_session: SceneMaker,
    *steps: dict[str, Any],
    answer: str = "once",
    sql: dict[str, Any] | None = None,
    **more: Any,
) -> tuple[list[ToolResult], list[ApprovalAsked]]:
    """What came of each call, and what the person was asked."""
    settings = {"sql": sql or {}, **more.pop("settings", {})}
    scene = make_session(*steps, {"text": "."}, settings=settings, **more)
    await extended(scene)
    events = await scene.play("go", lambda _: Approval.model_validate({"answer": answer}))
    came = [finished.result for finished in results(events).values()]
    return came, of_type(events, ApprovalAsked)


async def test_reading_runs_unasked_and_gives_a_table(make_session: SceneMaker, shop: Path) -> None:
    queries = [
        "SELECT * FROM item ORDER BY id;",
        "SELECT count(*) AS n FROM names",
        "SELECT text FROM words WHERE words MATCH 'tea'",
        "PRAGMA table_info(item)",
        "SELECT name FROM pragma_table_info('item')",
        "EXPLAIN QUERY PLAN SELECT * FROM item",
        "SELECT * FROM item WHERE 0",
    ]
    came, asked = await played(make_session, *map(ask, queries), attended=False)
    assert asked == []
    assert [result.success for result in came] == [True] * len(queries)
    first = came[0]
    assert first.llm_content == (
        "id | name | picture\n1 | tea \\| pot | (2 B, not text)\n2 | cup\\nx | NULL\n(2 rows)"
    )
    assert first.display == (
        TableBlock(
            columns=("id", "name", "picture"),
            rows=(("1", "tea | pot", "(2 B, not text)"), ("2", "cup\nx", "NULL")),
        ),
    )
    assert "green tea" in str(came[2].llm_content)
    assert came[-1].summary == "0 rows"


@pytest.mark.parametrize(
    "query",
    [
        "INSERT INTO item (name) VALUES ('x')",
        "UPDATE item SET name = 'x'",
        "DELETE FROM item",
        "DELETE FROM item WHERE 0",
        "UPDATE sqlite_schema SET sql = ''",
        "DELETE FROM item RETURNING *",
        "WITH x AS (SELECT 1) INSERT INTO item (name) SELECT 'x' FROM x",
        "REPLACE INTO item VALUES (1, 'x', NULL)",
        "INSERT INTO words VALUES ('x')",
        "DROP TABLE item",
        "CREATE TABLE more (x)",
        "CREATE TEMP TABLE more (x)",
        "ALTER TABLE item RENAME TO x",
        "ATTACH 'other.db' AS other",
        "ATTACH ':memory:' AS other",
        "DETACH main",
        "VACUUM",
        "VACUUM INTO 'other.db'",
        "BEGIN IMMEDIATE",
        "REINDEX",
        "ANALYZE",
        "PRAGMA query_only = OFF",
        "PRAGMA writable_schema = ON",
        "PRAGMA user_version = 7",
        "PRAGMA journal_mode = WAL",
        "PRAGMA trusted_schema = ON",
        "PRAGMA wal_checkpoint",
        "PRAGMA optimize",
        "PRAGMA temp_store_directory = '/tmp'",
        "SELECT load_extension('evil')",
        "SELECT LOAD_EXTENSION('evil', 'main')",
        "SELECT fts3_tokenizer('simple')",
        "SELECT writefile('other.db', 'x')",
        "EXPLAIN ATTACH 'other.db' AS other",
        "SELECT 1; DROP TABLE item",
        "SELECT 1; ATTACH 'other.db' AS other",
        "/* SELECT */ DELETE FROM item",
        "SELECT * FROM pragma_user_version(7)",
    ],
)
async def test_reading_cannot_change_or_open_anything(
    make_session: SceneMaker, shop: Path, query: str
) -> None:
    before = shop.read_bytes()
    (result,), asked = await played(make_session, ask(query), settings={"mode": "yolo"})
    assert not result.success, result
    assert asked == []
    assert shop.read_bytes() == before
    assert not (make_session.workspace / "other.db").exists()
    assert "unexpectedly" not in str(result.llm_content)


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FROM n",
        "SELECT * FROM n WHERE x < 0",
        "SELECT group_concat(x) FROM n",
        "SELECT a.x FROM n a, n b, n c ORDER BY a.x * b.x * c.x",
    ],
)
async def test_a_query_that_never_ends_is_stopped(
    make_session: SceneMaker, shop: Path, query: str, write: bool
) -> None:
    (result,), _ = await played(
        make_session, ask(ENDLESS + query, write=write), sql={"seconds": 0.3}
    )
    assert "stopped after 0.3 s" in str(result.llm_content)


async def test_rows_and_values_are_limited(make_session: SceneMaker, shop: Path) -> None:
    queries = [
        ENDLESS + "SELECT x FROM n",
        "SELECT printf('%.*c', 5000, 'x') AS x",
        "SELECT length(zeroblob(1000000000))",
        "SELECT replace(printf('%.*c', 9000000, 'x'), 'x', 'yyyyyyyyyy')",
    ]
    (many, long, *huge), _ = await played(make_session, *map(ask, queries), sql={"most_rows": 3})
    assert str(many.llm_content).startswith("x\n1\n2\n3\n(3 rows, and there are more)\n")
    assert "… (5,000 characters)" in str(long.llm_content)
    assert len(str(long.llm_content)) < 1_200
    assert ["too big" in str(result.llm_content) for result in huge] == [True, True]


async def test_writing_asks_each_time_as_dangerous(make_session: SceneMaker, shop: Path) -> None:
    calls = [
        ask("SELECT 1", write=False),
        ask("INSERT INTO item (name) VALUES ('jug'), ('mug')", write=True),
        ask("DELETE FROM item WHERE name LIKE '%ug' RETURNING name", write=True),
        ask("CREATE TABLE more (x)", write=True),
    ]
    came, asked = await played(
        make_session, *calls, answer="session", settings={"mode": "accept-edits"}
    )
    assert [question.request.codes[0] for question in asked] == ["tool_says_dangerous"] * 3
    assert {question.request.rule for question in asked} == {None}
    assert "INSERT INTO item" in str(asked[0].request.preview)
    assert [result.summary for result in came] == [
        "1 row",
        "2 rows changed",
        "2 rows",
        "0 rows changed",
    ]
    with closing(sqlite3.connect(shop)) as connection:
        assert connection.execute("SELECT count(*) FROM item").fetchone() == (2,)
        assert connection.execute("SELECT count(*) FROM more").fetchone() == (0,)


async def test_a_write_that_is_not_permitted_does_not_happen(
    make_session: SceneMaker, shop: Path
) -> None:
    before = shop.read_bytes()
    delete = ask("DELETE FROM item", write=True)
    (refused,), _ = await played(make_session, delete, answer="no")
    (planned,), asked = await played(make_session, delete, settings={"mode": "plan"})
    rules = {"permissions": {"allow": ["Edit(shop.db)", "Read(**)", "SqlQuery(shop.db)"]}}
    (alone,), _ = await played(make_session, delete, attended=False, settings=rules)
    assert "The user declined" in str(refused.llm_content)
    assert "in plan mode" in str(planned.llm_content)
    assert "nobody is there to ask" in str(alone.llm_content)
    assert asked == []
    assert shop.read_bytes() == before


async def test_what_may_not_be_read_is_not_read_by_writing(
    make_session: SceneMaker, shop: Path
) -> None:
    assert shop.exists()
    rules = {"mode": "yolo", "permissions": {"deny": ["Read(shop.db)"]}}
    (refused,), _ = await played(
        make_session, ask("SELECT * FROM item", write=True), settings=rules
    )
    assert "the rule Read(shop.db) denies it" in str(refused.llm_content)


@pytest.mark.parametrize(
    "query",
    [
        "ATTACH 'other.db' AS other",
        "VACUUM INTO 'other.db'",
        "SELECT load_extension('evil')",
        "PRAGMA writable_schema = ON",
        "PRAGMA temp_store_directory = '/tmp'",
    ],
)
async def test_even_writing_stays_in_its_file(
    make_session: SceneMaker, shop: Path, query: str
) -> None:
    (result,), _ = await played(make_session, ask(query, write=True))
    assert "refused" in str(result.llm_content)
    assert not (make_session.workspace / "other.db").exists()


async def test_only_databases_are_opened_and_none_is_made(
    make_session: SceneMaker, shop: Path, tmp_path: Path
) -> None:
    work = make_session.workspace
    (work / "text.db").write_text("not a database, but long enough to look like a file")
    os.mkfifo(work / "pipe.db")
    make_shop(tmp_path / "outside.db")
    (work / "odd ?mode=rw&#%41.db").write_bytes(shop.read_bytes())
    (work / "link.db").symlink_to(tmp_path / "outside.db")
    names = [
        "none.db",
        "text.db",
        "pipe.db",
        ".",
        "odd ?mode=rw&#%41.db",
        "../outside.db",
        "link.db",
    ]
    came, asked = await played(make_session, *(ask("SELECT 1", name) for name in names))
    none, text, pipe, here, odd, outside, link = came
    assert "There is no file none.db" in str(none.llm_content)
    assert not (work / "none.db").exists()
    assert "is not a SQLite database" in str(text.llm_content)
    assert "Cannot open" in str(pipe.llm_content)
    assert "Cannot open" in str(here.llm_content)
    assert odd.success
    assert outside.success
    assert link.success
    assert [question.request.codes[0] for question in asked] == ["outside_workspace"] * 2


async def test_secrets_in_rows_are_hidden(make_session: SceneMaker, shop: Path) -> None:
    token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    (result,), _ = await played(
        make_session, ask(f"SELECT '{token[:9]}' || '{token[9:]}' AS token")
    )
    assert result.success
    assert token not in str(result.llm_content) + str(result.display)
    assert isinstance(result.display[0], TableBlock)


async def test_databases_have_names_in_the_configuration(
    make_session: SceneMaker, tmp_path: Path
) -> None:
    make_shop(tmp_path / "stock.db")
    sql = {
        "databases": {
            "stock": f"sqlite://{tmp_path}/${{NAME_OF_IT}}.db",
            "orders": "postgresql://reader:${ORDERS_PASSWORD}@db.example:5433/orders",
            "odd": "oracle://db.example/x",
        }
    }
    calls = [ask("SELECT 1", "stock"), ask("DELETE FROM x", "orders"), ask("SELECT 1", "odd"), ask("SELECT 1", "nothing")]  # fmt: skip
    came, asked = await played(
        make_session,
        *calls,
        sql=sql,
        environment={"NAME_OF_IT": "stock", "ORDERS_PASSWORD": "not-to-be-told-7"},
    )
    assert came[0].success
    assert "call again with write=true" in str(came[1].llm_content)
    assert "unknown kind" in str(came[2].llm_content)
    assert "Configured databases: stock, orders, odd" in str(came[3].llm_content)
    assert "not-to-be-told-7" not in str(came)
    assert asked[1].request.targets == ("db.example",)
    assert asked[1].request.rule == "SqlQuery(domain:db.example)"


async def test_an_interruption_ends_the_query_and_takes_it_back(
    make_session: SceneMaker, shop: Path
) -> None:
    endless = f"INSERT INTO item (name) {ENDLESS} SELECT x FROM n"
    scene = make_session(ask(endless, write=True), settings={"sql": {"seconds": 600}})
    await extended(scene)

    def is_locked() -> bool:
        with closing(sqlite3.connect(shop, timeout=0)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                return "locked" in str(error)
            return False

    turn = asyncio.create_task(scene.play("go", lambda _: Approval(answer="once")))
    await until(is_locked)
    scene.session.interrupt()
    await turn
    await until(lambda: not is_locked())
    with closing(sqlite3.connect(shop)) as connection:
        assert connection.execute("SELECT count(*) FROM item").fetchone() == (2,)
