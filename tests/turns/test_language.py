"""A session in another language: the person reads that one, the model goes on reading English."""

from collections.abc import Iterator
from contextlib import aclosing
from typing import Any

import pytest

from agent_cli.core.events import Event, HistoryCompacted, Notice, QuestionAsked, ToolStarted
from agent_cli.core.inbox import Answers
from agent_cli.launch_options import Resume
from tests.kit.sessions import Scene, SceneMaker, assert_valid, finish, of_type, results
from tests.kit.tongue import foreign_tongue


@pytest.fixture(autouse=True)
def _foreign() -> Iterator[None]:
    with foreign_tongue():
        yield


def call(name: str, arguments: Any, **more: Any) -> dict[str, Any]:
    return {"calls": [{"id": name, "name": name, "arguments": arguments}], **more}


def sent(scene: Scene) -> str:
    """All that any model was sent."""
    asked = (request for model in scene.models.values() for request in model.requests)
    return "\n".join(f"{each.system}{each.tools}{each.messages}" for each in asked)


async def follow(stream: Any, scene: Scene, choice: int) -> list[Event]:
    """Play to the end, taking the choice of this number whenever something is asked."""
    events: list[Event] = []
    async with aclosing(stream) as following:
        async for event in following:
            events.append(event)
            if isinstance(event, QuestionAsked):
                label = event.request.questions[0].choices[choice].label
                scene.session.reply(event.request.id, Answers(answers=(label,)))
    return events


async def test_what_went_wrong_with_a_call_is_told_in_english(
    make_session: SceneMaker,
) -> None:
    scene = make_session(
        call("Raed", {"file_path": "a"}),
        call("Read", "{{"),
        call("Grep", {}),
        call("Task", {"profile": "plain", "prompt": "go", "description": "do"}),
        {"text": "done"},
    )
    events = await scene.play()
    assert finish(events).text == "done"
    told = results(events)
    assert "The tool 'Raed' does not exist. Did you mean Read or" in sent(scene)
    assert "its arguments are not valid JSON" in told["Read"].result.summary
    assert told["Grep"].result.summary.startswith("Grep was not run: its arguments are not valid.")
    assert "There is no profile named plain; there are: default" in sent(scene)
    assert of_type(events, ToolStarted)[0].status == "⟦Running…⟧"
    assert "⟦" not in sent(scene)


async def test_why_an_agent_stopped_is_told_to_the_sender_in_english(
    make_session: SceneMaker,
) -> None:
    used = {"input_tokens": 10, "cost": 0.6}
    scene = make_session(
        call("Task", {"profile": "default", "prompt": "go", "description": "do"}, usage=used),
        call("Glob", {"pattern": "*"}, usage=used),
        {"text": "done"},
        settings={"budget": {"session": 1.0}},
    )
    events = await follow(scene.session.run("go"), scene, 1)
    assert finish(events).text == "done"
    assert "The session's budget is used up: $1.20 of $1.00." in sent(scene)
    assert "⟦" not in sent(scene)


async def test_the_budget_is_raised_by_the_choice_that_was_shown(make_session: SceneMaker) -> None:
    steps = [call("Glob", {"pattern": "*"}, usage={"input_tokens": 9, "cost": 0.95})] * 2
    scene = make_session(*steps, {"text": "done"}, settings={"budget": {"session": 1.0}})
    events = await follow(scene.session.run("go"), scene, 1)
    (asked,) = of_type(events, QuestionAsked)
    assert asked.request.questions[0].choices[1].label == "⟦Raise to $2.00⟧"
    assert finish(events).text == "done"
    assert "told to wrap up" in of_type(events, Notice)[0].text
    assert "[This session's budget is nearly used up: $0.95 of $1.00." in sent(scene)
    assert "⟦" not in sent(scene)


async def test_a_session_goes_on_in_whatever_language(make_session: SceneMaker) -> None:
    scene = make_session(
        call("Read", {"file_path": "old"}),
        {"text": "It is about music."},
        {"text": "summary"},
        {"text": "ok"},
        files={"old": "xylophone\n" * 400},
    )
    await scene.play("What is in old?")
    events = await follow(scene.session.compact(""), scene, 0)
    (compacted,) = of_type(events, HistoryCompacted)
    assert "⟦1 Read result⟧" in compacted.ledger.short()
    assert scene.session.memory.recall("xylophone")[0].title == "⟦result of Read⟧"
    await scene.play("Go on.")
    assert "<result of Read>" in sent(scene)
    before = scene.session.messages
    await scene.session.close()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agent_cli.lib.language._catalogue", None)
        later = make_session({"text": "hello again"}, resume=Resume())
        assert later.session.messages == before
        assert finish(await later.play("And now?")).text == "hello again"
        assert later.session.memory.undo_compaction()
        assert_valid(later.session.messages)
    assert "⟦" not in sent(scene) + sent(later)
