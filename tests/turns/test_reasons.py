"""Why a call is asked about or refused: data for the views, English for everybody else."""

import json

import pytest

from agent_cli.controller.endings import failure
from agent_cli.core.events import ApprovalAsked
from agent_cli.core.inbox import Approval
from agent_cli.safety.reasons import because, in_words
from tests.kit.sessions import Scene, SceneMaker, of_type, results
from tests.kit.tongue import foreign_tongue
from tests.kit.trees import write


def sent(scene: Scene) -> str:
    """What the model was sent last."""
    return str(scene.model.requests[-1].messages)


def logged(scene: Scene) -> str:
    (log,) = scene.home.rglob("audit.jsonl")
    return log.read_text(encoding="utf-8")


async def test_a_no_is_said_to_the_user_and_to_the_model_in_their_own_words(
    make_session: SceneMaker,
) -> None:
    write(make_session.workspace, {"old": "x"})
    call = {"id": "c1", "name": "Bash", "arguments": {"command": "rm -r old && ls"}}
    scene = make_session({"calls": [call]}, {"text": "ok"})
    with foreign_tongue():
        no = Approval(answer="no", reason="keep it")
        events = await scene.play(answer=lambda _: no)
        (asked,) = of_type(events, ApprovalAsked)
        request = asked.request
        assert request.reasons[0] == because("removes_directories")
        notes = [note for step in request.steps for note in step.note]
        assert request.undo is not None
        for reason in (*request.reasons, *request.consequences, *notes, request.undo):
            assert in_words(reason).startswith("⟦")
        error = results(events)["c1"].result.error
        assert error is not None
        assert failure(error) == "⟦You said no: keep it⟧"
    assert "The user declined this Bash call. They said: keep it" in sent(scene)
    assert "rm deletes whole directories" in logged(scene)
    assert "removes_directories" in json.loads(logged(scene).splitlines()[-1])["codes"]
    assert "⟦" not in sent(scene) + logged(scene)


@pytest.mark.parametrize(
    ("command", "shown", "told"),
    [
        (
            "rm -rf /",
            "Blocked: ⟦this would delete everything on this machine⟧",
            "Bash is not permitted: this would delete everything on this machine.",
        ),
        (
            "touch new",
            "Blocked: ⟦`touch` can change files⟧",
            "Bash needs the user's permission (`touch` can change files), and nobody is there",
        ),
    ],
)
async def test_what_nobody_can_permit_is_refused_in_english(
    make_session: SceneMaker, command: str, shown: str, told: str
) -> None:
    call = {"id": "c1", "name": "Bash", "arguments": {"command": command}}
    scene = make_session({"calls": [call]}, {"text": "ok"}, attended=False)
    with foreign_tongue():
        events = await scene.play()
        error = results(events)["c1"].result.error
        assert error is not None
        assert failure(error) == f"⟦{shown}⟧"
    assert told in sent(scene)
    assert "⟦" not in sent(scene) + logged(scene)
