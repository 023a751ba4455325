"""Extensions in a person's own language: the user reads Chinese, the model English."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from agent_cli.core.events import ApprovalAsked
from agent_cli.core.inbox import Approval
from agent_cli.core.tool import ToolResult
from agent_cli.lib import language
from tests.kit.extensions import extended
from tests.kit.mcp_world import Served, configure, odd
from tests.kit.sessions import SceneMaker, of_type, results

CHINESE = re.compile("[\u4e00-\u9fff]")


@pytest.fixture(autouse=True)
def chinese() -> Iterator[None]:
    language.use("zh")
    yield
    language.use("en")


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [{"name": name, "arguments": arguments}]}


def is_for_both(result: ToolResult) -> bool:
    """Whether the model is told in English, and the user what was done in Chinese."""
    in_chinese = CHINESE.search(result.summary) is not None
    return in_chinese == result.success and not CHINESE.search(str(result.llm_content))


async def test_a_server_is_approved_in_chinese_and_stays_approved_in_english(
    make_session: SceneMaker,
) -> None:
    configure(make_session.home, {"odd": odd()})
    scene = make_session(call("mcp__odd__echo", text="hi"), call("mcp__odd__die"), {"text": "."})
    made = Served(await extended(scene))
    assert CHINESE.search(made.world.notices)
    assert CHINESE.search(await made.approve("odd"))
    for asked in of_type(made.world.told, ApprovalAsked):
        request = asked.request
        assert all(
            map(CHINESE.search, (request.tool, str(request.preview), *map(str, request.reasons)))
        )

    done = results(await scene.play("go", lambda _: Approval(answer="once")))
    assert all(is_for_both(finished.result) for finished in done.values()), done

    language.use("en")
    again = Served(await extended(make_session()))
    assert again.row("odd").state == "ready", "the language does not count as a change"


async def test_rows_are_summed_up_in_chinese_and_told_in_english(make_session: SceneMaker) -> None:
    with closing(sqlite3.connect(make_session.workspace / "shop.db")) as connection:
        connection.executescript("CREATE TABLE item (x); INSERT INTO item VALUES (x'00'), (1);")
    steps = [
        call("SqlQuery", database="shop.db", query=query)
        for query in ("SELECT * FROM item", "DROP TABLE item")
    ]
    scene = make_session(*steps, {"text": "."}, settings={"sql": {"most_rows": 1}})
    await extended(scene)
    some, refused = (
        finished.result
        for finished in results(await scene.play("go", lambda _: Approval(answer="once"))).values()
    )
    assert is_for_both(some)
    assert "(1 B, not text)" in str(some.llm_content)
    assert is_for_both(refused)
