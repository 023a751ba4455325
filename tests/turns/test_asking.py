"""What the person is told before a call runs, through whole turns."""

import pytest

from agent_cli.core.deciding import approval_briefing as asking
from agent_cli.core.events import EVENT, ApprovalAsked
from agent_cli.core.inbox import Approval, ApprovalRequest, Step
from tests.kit.sessions import SceneMaker, of_type, results
from tests.kit.trees import repository, state_of, write


@pytest.fixture(autouse=True)
def plenty_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine must not make counts differ."""
    monkeypatch.setattr(asking, "TIMEOUT_S", 20.0)


async def asked(make_session: SceneMaker, tool: str, **arguments: str) -> ApprovalRequest:
    """What is asked about a call; the answer is no, and nothing may have happened."""
    call = {"id": "c1", "name": tool, "arguments": arguments}
    scene = make_session({"calls": [call]}, {"text": "ok"})
    before = state_of(scene.workspace)
    events = await scene.play(answer=lambda _: Approval(answer="no"))
    (event,) = of_type(events, ApprovalAsked)
    assert not results(events)["c1"].result.success
    assert state_of(scene.workspace) == before, "it ran, or asking changed something"
    told = event.model_dump_json()
    assert EVENT.validate_json(told).model_dump_json() == told
    return event.request


async def test_a_deletion_is_counted_before_it_is_asked_about(make_session: SceneMaker) -> None:
    files = {f"build/{number}": "x" * 1000 for number in range(210)}
    repository(make_session.workspace, {**files, ".gitignore": "*.env\n"})
    write(make_session.workspace, {"build/local.env": "S=1", "build/a.db": "data"})
    request = await asked(make_session, "Bash", command="rm -rf build/*")
    assert list(map(str, request.consequences)) == [
        "deletes 212 files, 210 kB",
        "2 of them aren't in git: build/local.env, build/a.db",
    ]
    (step,) = request.steps
    assert step == Step(text="rm -rf build/*", note=request.consequences)
    assert not request.network


async def test_each_command_of_a_line_is_a_step(make_session: SceneMaker) -> None:
    repository(make_session.workspace, {"build/x": "1", "notes": "2"})
    request = await asked(
        make_session, "Bash", command="cd build && ls; rm x > ../notes; sudo env A=1 rm x $y"
    )
    assert [(step.text, "; ".join(map(str, step.note))) for step in request.steps] == [
        ("cd build", ""),
        ("ls", ""),
        ("rm x", "overwrites 1 file, 1 B: notes; deletes 1 file, 1 B: build/x"),
        ("sudo env A=1 rm x …", "part of it is only known when it runs"),
        ("rm x …", "deletes 1 file, 1 B: build/x"),
    ]
    assert str(request.consequences[-1]).startswith("not counted: rm x …: ")


async def test_a_step_that_is_proven_says_so(make_session: SceneMaker) -> None:
    request = await asked(make_session, "Bash", command="ls && touch made")
    assert [(step.text, "; ".join(map(str, step.note))) for step in request.steps] == [
        ("ls", "changes nothing"),
        ("touch made", ""),
    ]
    assert request.consequences == ()


async def test_a_path_that_leads_elsewhere_is_shown_with_its_end(make_session: SceneMaker) -> None:
    write(make_session.home, {"diary": "secret"})
    write(make_session.workspace, {"docs/plain": "1"})
    (make_session.workspace / "docs" / "video.mp4").symlink_to(make_session.home / "diary")
    request = await asked(make_session, "Read", file_path="docs/video.mp4")
    assert request.resolved == ("docs/video.mp4 → ~/diary",)
    request = await asked(make_session, "Bash", command="echo > docs/video.mp4 && rm docs/plain")
    assert request.resolved == ("docs/video.mp4 → ~/diary",)
    assert "outside the project: ~/diary" in map(str, request.consequences)


@pytest.mark.parametrize(
    ("command", "network"), [("curl example.org", True), ("git push", True), ("make", False)]
)
async def test_talk_to_other_machines_is_said(
    make_session: SceneMaker, command: str, network: bool
) -> None:
    assert (await asked(make_session, "Bash", command=command)).network is network


async def test_odd_characters_are_named(make_session: SceneMaker) -> None:
    request = await asked(make_session, "Bash", command="rm fi\u200ble # \u202eelif")
    assert len(request.odd) == 2
    assert all(step.text.isprintable() for step in request.steps)


async def test_names_that_are_no_text_survive_the_way_to_the_person(
    make_session: SceneMaker,
) -> None:
    odd = make_session.workspace / "bad\udcff\nname"
    odd.write_text("x")
    request = await asked(make_session, "Bash", command="rm -f *")
    assert list(map(str, request.consequences)) == [
        "deletes 1 file, 1 B",
        "it isn't in a git repository: bad\\xff\\nname",
    ]
