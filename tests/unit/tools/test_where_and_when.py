"""CurrentDirectory and CurrentDateTime."""

import time
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from agent_cli.core.tool_context import ShellInfo
from agent_cli.tools import current_date_time
from agent_cli.tools.current_date_time import describe, zone_name
from tests.kit.one_call import call_in, one_call, scene_with
from tests.kit.sessions import SceneMaker

MOMENT = datetime(2026, 3, 1, 9, 5, 7, tzinfo=timezone(timedelta(hours=1), "CET"))


async def test_a_shell_that_did_not_move_stands_in_the_workspace(make_session: SceneMaker) -> None:
    result = await one_call(make_session, "CurrentDirectory")
    root = str(make_session.workspace)
    assert result.llm_content == root
    assert result.metadata == {"path": root, "basename": "project", "workspace": root}


async def test_a_shell_that_moved_is_told_beside_the_workspace(make_session: SceneMaker) -> None:
    scene = scene_with(make_session, "CurrentDirectory")
    scene.session.state(ShellInfo).directory = "/usr/lib"
    result = await call_in(scene)
    assert result.llm_content == f"/usr/lib\nworkspace: {make_session.workspace}"
    assert result.metadata["basename"] == "lib"


async def test_the_time_is_now(make_session: SceneMaker) -> None:
    before = int(time.time())
    result = await one_call(make_session, "CurrentDateTime")
    unix = result.metadata["unix"]
    assert isinstance(unix, int)
    assert before <= unix <= time.time()
    iso = datetime.fromisoformat(str(result.metadata["iso"]))
    assert iso.timestamp() == unix
    assert str(result.metadata["iso"]) in str(result.llm_content)


def test_a_moment_is_told_in_every_form() -> None:
    assert describe(MOMENT, "Europe/Berlin") == {
        "iso": "2026-03-01T09:05:07+01:00",
        "unix": 1772352307,
        "timezone": "Europe/Berlin",
        "utc_offset": "+0100",
        "date": "Sunday, 1 March 2026",
        "time": "09:05:07",
        "full": "Sunday, 1 March 2026, 09:05:07 Europe/Berlin",
    }


@pytest.mark.parametrize(
    ("variable", "name"),
    [("Asia/Tokyo", "Asia/Tokyo"), (":Asia/Tokyo", "Asia/Tokyo"), ("CET-1", "CET")],
)
def test_the_variable_names_the_zone(variable: str, name: str) -> None:
    assert zone_name(MOMENT, {"TZ": variable}) == name


def test_the_systems_zone_is_named_by_its_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = tmp_path / "localtime"
    monkeypatch.setattr(current_date_time, "LOCAL_TIME", link)
    assert zone_name(MOMENT, {}) == "CET"
    link.symlink_to("/usr/share/zoneinfo/Europe/Vienna")
    assert zone_name(MOMENT, {}) == "Europe/Vienna"
    assert zone_name(datetime(2026, 3, 1, tzinfo=UTC), {"TZ": "UTC"}) == "UTC"
