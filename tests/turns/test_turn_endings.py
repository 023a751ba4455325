"""However a turn ends, whoever follows it is told, and the session can go on."""

import asyncio
from contextlib import aclosing

import pytest

from agent_cli.core.events import Event, RequestWithdrawn, ToolFinished, TurnStarted
from agent_cli.core.inbox import Approval, Question
from agent_cli.core.tool import Description, Tool, ToolKind, ToolParams, ToolResult
from agent_cli.core.tool_context import ToolContext
from tests.kit.sessions import Scene, SceneMaker, finish, of_type


class BrokenJobs:
    """A tool's memory that cannot say what still runs, as the end of a turn wants to know."""

    is_broken = True

    def running(self) -> list[object]:
        if self.is_broken:
            raise RuntimeError("no idea")
        return []


class NoParams(ToolParams):
    """None."""


async def spoil(_params: NoParams, context: ToolContext) -> ToolResult:
    context.state(BrokenJobs)
    return ToolResult(llm_content="ok")


async def ask_for_ever(_params: NoParams, context: ToolContext) -> ToolResult:
    await context.ask((Question(text="Well?"),))
    return ToolResult(llm_content="answered")


def tool(name: str, run: object, timeout: float | None = None) -> Tool[NoParams]:
    return Tool(
        name=name,
        kind=ToolKind.READONLY,
        params=NoParams,
        run=run,  # type: ignore[arg-type]
        timeout=timeout,
        description=Description(short=name),
    )


def calls(*names: str) -> dict[str, object]:
    return {"calls": [{"id": f"c{n}", "name": name} for n, name in enumerate(names, 1)]}


async def own(scene: Scene, command: str) -> list[Event]:
    async with asyncio.timeout(20), aclosing(scene.session.run_own(command, tool="Bash")) as events:
        return [event async for event in events]


async def test_a_turn_whose_ending_fails_is_reported_and_the_session_goes_on(
    make_session: SceneMaker,
) -> None:
    scene = make_session(
        calls("Spoil"), {"text": "ok"}, {"text": "again"}, extra=[tool("Spoil", spoil)]
    )
    async with asyncio.timeout(20):
        events = await scene.play()
    end = finish(events)
    assert end.reason == "failed"
    assert "no idea" in end.error
    assert not scene.session.is_running
    scene.session.state(BrokenJobs).is_broken = False
    assert finish(await scene.play("once more")).text == "again"


async def test_an_own_command_whose_ending_fails_is_reported_too(make_session: SceneMaker) -> None:
    scene = make_session()
    scene.session.state(BrokenJobs)
    end = finish(await own(scene, "true"))
    assert (end.reason, "no idea" in end.error) == ("failed", True)


async def test_the_log_holds_the_end_of_a_turn_that_could_not_end_by_itself(
    make_session: SceneMaker,
) -> None:
    scene = make_session(calls("Spoil"), {"text": "ok"}, extra=[tool("Spoil", spoil)])
    async with asyncio.timeout(20):
        events = await scene.play()
    kept = scene.session.history().events
    assert kept[-1] == events[-1]


async def test_an_interrupt_counts_until_the_events_are_read_to_the_end(
    make_session: SceneMaker,
) -> None:
    scene = make_session({"text": "ok"})
    async with aclosing(scene.session.run("go")) as events:
        async for event in events:
            if isinstance(event, TurnStarted):
                await asyncio.sleep(0.2)  # by now the turn itself is over
            assert scene.session.interrupt()
    assert not scene.session.interrupt()


@pytest.mark.parametrize("reason", ["interrupted", "timeout", "closed"])
async def test_a_question_that_ends_without_an_answer_is_withdrawn(
    make_session: SceneMaker, reason: str
) -> None:
    limit = 0.2 if reason == "timeout" else None
    scene = make_session(
        calls("Ask"), {"text": "ok"}, extra=[tool("Ask", ask_for_ever, timeout=limit)]
    )
    events: list[Event] = []
    async with asyncio.timeout(20), aclosing(scene.session.run("go")) as stream:
        async for event in stream:
            events.append(event)
            if event.type == "question_asked" and reason == "interrupted":
                scene.session.interrupt()
            if event.type == "question_asked" and reason == "closed":
                break
    if reason == "closed":
        assert scene.session.waiting == ()
        return
    kinds = [type(event) for event in events]
    assert kinds.index(RequestWithdrawn) < kinds.index(ToolFinished)
    (withdrawn,) = of_type(events, RequestWithdrawn)
    (asked,) = (event.request for event in events if event.type == "question_asked")
    assert withdrawn.request_id == asked.id


async def test_what_is_answered_is_not_withdrawn(make_session: SceneMaker) -> None:
    scene = make_session({"calls": [{"name": "Bash", "arguments": {"command": "touch a"}}]}, {})
    events = await scene.play(answer=lambda _: Approval(answer="once"))
    assert not of_type(events, RequestWithdrawn)
