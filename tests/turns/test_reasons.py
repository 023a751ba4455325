"""Why a call is asked about or refused: told to the person in their language, in English else."""

import pytest

from agent_cli.core.events import ApprovalAsked
from agent_cli.core.inbox import Approval
from tests.kit.sessions import Scene, SceneMaker, of_type, results
from tests.kit.tongue import foreign_tongue
from tests.kit.trees import write


def sent(scene: Scene) -> str:
    """What the model was sent last."""
    return str(scene.model.requests[-1].messages)


def logged(scene: Scene) -> str:
    (log,) = scene.home.rglob("audit.jsonl")
    return log.read_text(encoding="utf-8")


async def test_the_question_is_in_the_persons_language_and_the_rest_in_english(
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
    shown = (*request.reasons, *request.consequences, *(step.note for step in request.steps))
    assert "⟦rm deletes whole directories⟧" in request.reasons
    assert all(text.startswith("⟦") for text in (*shown, request.undo))
    assert results(events)["c1"].result.summary.startswith("⟦The person did not permit")
    assert "The person did not permit this Bash call. The person said: keep it" in sent(scene)
    assert "rm deletes whole directories" in logged(scene)
    assert "⟦" not in sent(scene) + logged(scene)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("rm -rf /", "Bash is not permitted: it deletes everything below /"),
        ("touch new", "Bash needs the person's permission (touch is not in the table of commands"),
    ],
)
async def test_what_nobody_can_permit_is_refused_in_english(
    make_session: SceneMaker, command: str, told: str
) -> None:
    call = {"id": "c1", "name": "Bash", "arguments": {"command": command}}
    scene = make_session({"calls": [call]}, {"text": "ok"}, attended=False)
    with foreign_tongue():
        events = await scene.play()
    assert results(events)["c1"].result.summary.startswith("⟦Bash ")
    assert told in sent(scene)
    assert "⟦" not in sent(scene) + logged(scene)
