"""The mode auto: commands run unasked inside the sandbox."""

from typing import Any

import pytest

from agent_cli.core.events import ApprovalAsked, ToolFinished
from agent_cli.core.inbox import Approval
from agent_cli.safety.sandbox import find_sandbox
from tests.kit.lacking import no_bubblewrap
from tests.kit.sessions import SceneMaker, of_type

AUTO = {"mode": "auto"}


def bash(command: str) -> dict[str, Any]:
    return {"calls": [{"name": "Bash", "arguments": {"command": command}}]}


@pytest.fixture(autouse=True)
async def _sandbox() -> None:
    sandbox = await find_sandbox("auto")
    if not sandbox.confines:
        no_bubblewrap(f"No sandbox works here: {sandbox.reason}")


async def test_a_command_that_is_not_dangerous_runs_unasked_in_the_sandbox(
    make_session: SceneMaker,
) -> None:
    scene = make_session(bash("echo hi > made; echo $TMPDIR > $TMPDIR/x && cat $TMPDIR/x"), {"text": "ok"}, settings=AUTO)  # fmt: skip
    events = await scene.play()
    (finished,) = of_type(events, ToolFinished)
    assert not of_type(events, ApprovalAsked)
    assert finished.result.success, finished.result.llm_content
    assert finished.result.metadata["sandbox"] in ("bubblewrap", "landlock", "seatbelt")
    assert (scene.workspace / "made").read_text() == "hi\n"


async def test_what_the_sandbox_stops_can_be_run_outside_if_the_person_agrees(
    make_session: SceneMaker,
) -> None:
    target = make_session.home / "outside.txt"
    for answer, made in (("no", False), ("once", True)):
        scene = make_session(bash(f'X={target}; echo hi > "$X"'), {"text": "ok"}, settings=AUTO)
        asked: list[ApprovalAsked] = []

        def reply(event: ApprovalAsked, answer: Any = answer, asked: list[Any] = asked) -> Approval:
            asked.append(event)
            return Approval(answer=answer)

        await scene.play(answer=reply)
        assert len(asked) == 1
        assert target.exists() is made
        await scene.session.close()


async def test_a_dangerous_command_asks_in_auto_mode_too(make_session: SceneMaker) -> None:
    scene = make_session(
        bash("rm -rf build"), {"text": "ok"}, files={"build/x": "keep"}, settings=AUTO
    )
    events = await scene.play(answer=lambda _: Approval(answer="no"))
    assert len(of_type(events, ApprovalAsked)) == 1
    assert (scene.workspace / "build" / "x").exists()


async def test_edits_need_no_question_in_auto_mode(make_session: SceneMaker) -> None:
    scene = make_session(
        {"calls": [{"name": "Write", "arguments": {"file_path": "new.txt", "content": "x"}}]},
        {"text": "ok"},
        settings=AUTO,
    )
    events = await scene.play()
    assert not of_type(events, ApprovalAsked)
    assert (scene.workspace / "new.txt").exists()


async def test_without_a_sandbox_auto_mode_asks(make_session: SceneMaker) -> None:
    scene = make_session(
        bash("make all"), {"text": "ok"}, settings={"mode": "auto", "sandbox": "off"}
    )
    events = await scene.play(answer=lambda _: Approval(answer="no"))
    assert len(of_type(events, ApprovalAsked)) == 1
