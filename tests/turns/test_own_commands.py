"""Commands the person runs, through the session."""

import asyncio
import json
from contextlib import aclosing

from agent_cli.core.events import (
    ApprovalAsked,
    Event,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from agent_cli.core.messages import UserMessage
from tests.kit.sessions import Scene, SceneMaker, finish, of_type


async def own(scene: Scene, command: str) -> list[Event]:
    async with asyncio.timeout(60), aclosing(scene.session.run_own(command, tool="Bash")) as events:
        return [event async for event in events]


def told(scene: Scene) -> str:
    last = scene.session.messages[-1]
    assert isinstance(last, UserMessage)
    assert last.origin == "program"
    assert isinstance(last.content, str)
    return last.content


async def test_a_command_of_the_persons_own_runs_unasked_and_reads_like_a_turn(
    make_session: SceneMaker,
) -> None:
    scene = make_session(settings={"mode": "plan"}, files={"a.txt": "1"})
    events = await own(scene, "rm a.txt && echo gone")
    assert not (scene.workspace / "a.txt").exists()
    assert not of_type(events, ApprovalAsked)
    kinds = [type(event) for event in events if not isinstance(event, ToolProgress)]
    assert kinds == [TurnStarted, ToolStarted, ToolFinished, TurnFinished]
    assert finish(events).reason == "done"
    assert scene.model.requests == []


async def test_its_output_reaches_the_model_with_the_next_turn(make_session: SceneMaker) -> None:
    scene = make_session({"text": "I see."})
    await own(scene, "echo forty-two")
    assert told(scene).startswith("I ran this command myself:\n\necho forty-two\n")
    await scene.play("what did it say?")
    (request,) = scene.model.requests
    first, second = request.messages
    assert "forty-two" in str(first)
    assert isinstance(second, UserMessage)
    assert second.content == "what did it say?"


async def test_secrets_in_its_output_are_not_shared(make_session: SceneMaker) -> None:
    secret = "sk-ant-REDACTED"
    scene = make_session(environment={"ANTHROPIC_API_KEY": secret})
    await own(scene, f"echo {secret}")
    assert secret not in told(scene)


async def test_it_works_where_the_model_has_no_shell(make_session: SceneMaker) -> None:
    scene = make_session(tools=("Read",))
    await own(scene, "echo here")
    assert "here" in told(scene)


async def test_the_audit_log_says_who_ran_it(make_session: SceneMaker) -> None:
    scene = make_session()
    await own(scene, "true")
    (log,) = scene.home.rglob("audit.jsonl")
    record = json.loads(log.read_text().splitlines()[-1])
    assert (record["by"], record["tool"], record["decision"]) == ("person", "Bash", "none")


async def test_an_interrupt_ends_it_and_the_model_knows(make_session: SceneMaker) -> None:
    scene = make_session()
    events: list[Event] = []
    async with asyncio.timeout(60):
        async for event in scene.session.run_own("echo on; sleep 600", tool="Bash"):
            events.append(event)
            if isinstance(event, ToolProgress) and len(of_type(events, ToolProgress)) == 1:
                assert scene.session.interrupt()
    assert finish(events).reason == "interrupted"
    assert "interrupted" in told(scene)
    assert not scene.session.is_running


async def test_a_command_that_cannot_be_read_is_a_failed_call(make_session: SceneMaker) -> None:
    scene = make_session()
    events = await own(scene, "echo \0")
    (finished,) = of_type(events, ToolFinished)
    assert not finished.result.success
    assert finish(events).reason == "done"
