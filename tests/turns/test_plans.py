"""Plan mode, through whole turns."""

import asyncio
from contextlib import aclosing

from agent_cli.core.events import EVENT, Event, PlanAnswered, PlanAsked
from agent_cli.core.inbox import Approval, PlanAnswer
from agent_cli.core.messages import text_of
from agent_cli.core.policy import Mode
from tests.kit.sessions import Scene, SceneMaker, finish, of_type, results

PLAN = "# Add a file\n\n1. Write new.txt"
PRESENT = {"calls": [{"id": "p", "name": "ExitPlanMode", "arguments": {"plan": PLAN}}]}
WRITE = {
    "calls": [
        {"id": "w", "name": "Write", "arguments": {"file_path": "new.txt", "content": "new\n"}}
    ]
}


async def present(scene: Scene, answer: PlanAnswer | Approval) -> list[Event]:
    """Play a turn in which the plan is answered like this."""
    events: list[Event] = []
    async with asyncio.timeout(60), aclosing(scene.session.run("go")) as stream:
        async for event in stream:
            events.append(event)
            if isinstance(event, PlanAsked):
                assert scene.session.waiting == (event.request,)
                assert scene.session.reply(event.request.id, answer)
    return events


def offered(scene: Scene, request: int) -> set[str]:
    return {tool["function"]["name"] for tool in scene.model.requests[request].tools}


async def test_a_plan_that_is_approved_is_carried_out(make_session: SceneMaker) -> None:
    scene = make_session(PRESENT, WRITE, {"text": "done"}, settings={"mode": "plan"})
    events = await present(scene, PlanAnswer(answer="accept-edits"))
    (asked,) = of_type(events, PlanAsked)
    assert asked.request.plan == PLAN
    assert (scene.workspace / "new.txt").read_text() == "new\n"
    assert scene.session.mode is Mode.ACCEPT_EDITS
    (answered,) = of_type(events, PlanAnswered)
    assert (answered.answer, answered.mode) == ("accept-edits", "accept-edits")
    assert all(EVENT.validate_json(event.model_dump_json()) == event for event in events)


async def test_the_tool_is_offered_in_plan_mode_only(make_session: SceneMaker) -> None:
    scene = make_session(PRESENT, {"text": "done"}, settings={"mode": "plan"})
    await present(scene, PlanAnswer(answer="default"))
    assert "ExitPlanMode" in offered(scene, 0)
    assert "Write" not in offered(scene, 0)
    assert "Bash" in offered(scene, 0), "for what is proven to change nothing"
    assert "ExitPlanMode" not in offered(scene, 1)
    assert "Write" in offered(scene, 1)
    assert [tool.name for tool in scene.session.tools] == sorted(offered(scene, 1))


async def test_outside_of_plan_mode_there_is_nothing_to_leave(make_session: SceneMaker) -> None:
    scene = make_session(PRESENT, {"text": "ok"})
    events = await present(scene, PlanAnswer(answer="accept-edits"))
    assert not of_type(events, PlanAsked)
    assert "not available" in text_of(results(events)["p"].result.llm_content)
    assert scene.session.mode is Mode.DEFAULT


async def test_keeping_on_planning_changes_nothing_and_tells_why(make_session: SceneMaker) -> None:
    scene = make_session(PRESENT, WRITE, {"text": "ok"}, settings={"mode": "plan"})
    events = await present(scene, PlanAnswer(reason="too big"))
    assert "They said: too big" in text_of(results(events)["p"].result.llm_content)
    assert not results(events)["w"].result.success
    assert not (scene.workspace / "new.txt").exists()
    assert scene.session.mode is Mode.PLAN


async def test_the_model_gets_the_plan_as_the_person_edited_it(make_session: SceneMaker) -> None:
    scene = make_session(PRESENT, {"text": "ok"}, settings={"mode": "plan"})
    events = await present(scene, PlanAnswer(answer="default", plan="1. Write other.txt"))
    assert "1. Write other.txt" in text_of(results(events)["p"].result.llm_content)
    assert scene.session.mode is Mode.DEFAULT


async def test_an_answer_of_another_kind_is_not_a_yes(make_session: SceneMaker) -> None:
    scene = make_session(PRESENT, {"text": "ok"}, settings={"mode": "plan"})
    await present(scene, Approval(answer="once"))
    assert scene.session.mode is Mode.PLAN


async def test_without_a_person_the_plan_becomes_the_answer(make_session: SceneMaker) -> None:
    scene = make_session(PRESENT, {"text": PLAN}, settings={"mode": "plan"}, attended=False)
    events = await scene.play()
    assert not of_type(events, PlanAsked)
    assert "Nobody is there" in text_of(results(events)["p"].result.llm_content)
    assert finish(events).text == PLAN
    assert scene.session.mode is Mode.PLAN


async def test_an_interrupt_while_the_plan_waits_leaves_the_mode(make_session: SceneMaker) -> None:
    scene = make_session(PRESENT, settings={"mode": "plan"})
    async with asyncio.timeout(60), aclosing(scene.session.run("go")) as stream:
        async for event in stream:
            if isinstance(event, PlanAsked):
                scene.session.interrupt()
    assert scene.session.mode is Mode.PLAN
    assert scene.session.waiting == ()


async def test_in_plan_mode_a_command_runs_if_it_changes_nothing(make_session: SceneMaker) -> None:
    def bash(id: str, command: str) -> dict[str, object]:
        return {"id": id, "name": "Bash", "arguments": {"command": command}}

    scene = make_session(
        {"calls": [bash("a", "ls"), bash("b", "touch x"), bash("c", "make")]},
        {"text": "done"},
        files={"there": ""},
        settings={"mode": "plan", "permissions": {"allow": ["Bash(make)"]}},
    )
    found = results(await scene.play())
    assert "there" in text_of(found["a"].result.llm_content)
    assert [found[id].result.success for id in "abc"] == [True, False, False]
    assert not (scene.workspace / "x").exists()
