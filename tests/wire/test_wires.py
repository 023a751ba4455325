"""Turns through the real LiteLLM, on each provider's wire."""

import asyncio
import itertools
import json
from contextlib import aclosing
from typing import Any

import pytest

from agent_cli.core.events import (
    Event,
    ModelRetrying,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    UsageChanged,
)
from agent_cli.core.messages import AssistantMessage, ToolMessage
from tests.kit import failures
from tests.kit.model_server import Call, Cut, Reply, Stall, Usage
from tests.kit.sessions import assert_valid, finish, of_type
from tests.wire.conftest import KEYS, WIRES, WireSceneMaker

each_wire = pytest.mark.parametrize("wire", WIRES)


def sent_texts(body: Any) -> str:
    return json.dumps(body, ensure_ascii=False)


@each_wire
async def test_text_streams(make_wire: WireSceneMaker, wire: str) -> None:
    scene = make_wire(wire)
    scene.server.add(Reply("Hello, 世界. " * 20))
    events = await scene.play()
    assert "".join(e.text for e in of_type(events, TextDelta)) == "Hello, 世界. " * 20
    assert finish(events).reason == "done"


@each_wire
async def test_parallel_calls_run_and_their_results_go_back(
    make_wire: WireSceneMaker, wire: str
) -> None:
    scene = make_wire(wire, files={"a": "alpha\n", "b": "beta\n"})
    scene.server.add(
        Reply("Looking.", calls=[Call("Read", {"file_path": "a"}), Call("Read", {"path": "b"})])
    )
    scene.server.say("Both read.")
    events = await scene.play()
    assert [e.title for e in of_type(events, ToolStarted)] == ["a", "b"]
    assert all(e.result.success for e in of_type(events, ToolFinished))
    body = sent_texts(scene.server.requests[1].body)
    assert body.index("alpha") < body.index("beta")
    assert finish(events).text == "Both read."
    assert_valid(scene.session.messages)


@each_wire
async def test_a_tool_error_goes_back_and_the_turn_goes_on(
    make_wire: WireSceneMaker, wire: str
) -> None:
    scene = make_wire(wire)
    scene.server.add(Reply(calls=[Call("Read", {"file_path": "nowhere"})]))
    scene.server.say("I see.")
    events = await scene.play()
    assert not of_type(events, ToolFinished)[0].result.success
    assert "nowhere" in sent_texts(scene.server.requests[1].body)
    assert finish(events).reason == "done"


@each_wire
async def test_reasoning_is_shown_and_signed_thinking_goes_back(
    make_wire: WireSceneMaker, wire: str
) -> None:
    scene = make_wire(wire, files={"a": "x"})
    scene.server.add(Reply(thinking="Let me think.", calls=[Call("Read", {"file_path": "a"})]))
    scene.server.say("ok")
    events = await scene.play()
    assert "".join(e.text for e in of_type(events, ThinkingDelta)) == "Let me think."
    body = sent_texts(scene.server.requests[1].body)
    if wire == "anthropic":
        assert "Let me think." in body
        assert '"signature"' in body
    if wire == "gemini":
        assert "thoughtSignature" in body


@each_wire
async def test_usage_and_cost_are_counted(make_wire: WireSceneMaker, wire: str) -> None:
    scene = make_wire(wire)
    scene.server.add(Reply("ok", usage=Usage(input=1000, output=50, cache_read=500)))
    events = await scene.play()
    used = of_type(events, UsageChanged)[0].step
    assert used.input_tokens == 1500
    assert used.output_tokens == 50
    assert used.cached_tokens == 500
    assert used.cost is not None
    assert 0 < used.cost < 0.1


@each_wire
async def test_an_interrupt_ends_the_request_at_the_server(
    make_wire: WireSceneMaker, wire: str
) -> None:
    scene = make_wire(wire)
    scene.server.add(Stall(Reply("first words and more"), at=2))
    events: list[Event] = []
    async with aclosing(scene.session.run("go")) as stream:
        async for event in stream:
            events.append(event)
            if isinstance(event, TextDelta):
                scene.session.interrupt()
    assert finish(events).reason == "interrupted"
    assert await scene.server.saw_disconnect(timeout=60)
    last = scene.session.messages[-1]
    assert isinstance(last, AssistantMessage)
    assert last.text
    scene.server.say("still here")
    assert finish(await scene.play()).text == "still here"


@each_wire
async def test_a_wrong_key_is_told_once_and_not_shown(make_wire: WireSceneMaker, wire: str) -> None:
    scene = make_wire(wire)
    scene.server.add(failures.unauthorized())
    events = await scene.play()
    end = finish(events)
    assert end.reason == "failed"
    assert "_API_KEY" in end.hint
    assert len(scene.server.requests) == 1
    assert not any(key in end.model_dump_json() for key in KEYS.values())


@each_wire
async def test_a_rate_limit_is_waited_out(make_wire: WireSceneMaker, wire: str) -> None:
    scene = make_wire(wire)
    scene.server.add(failures.rate_limited("0"))
    scene.server.say("now")
    events = await scene.play()
    assert len(of_type(events, ModelRetrying)) == 1
    assert of_type(events, ModelRetrying)[0].delay == 0
    assert finish(events).text == "now"


@each_wire
async def test_a_server_error_is_retried_and_then_told(
    make_wire: WireSceneMaker, wire: str
) -> None:
    scene = make_wire(wire, settings={"limits": {"retries": 1}})
    scene.server.add(failures.server_error(), failures.server_error())
    events = await scene.play()
    assert finish(events).reason == "temporary"
    assert len(scene.server.requests) == 2


@each_wire
async def test_a_call_that_is_cut_off_never_runs(make_wire: WireSceneMaker, wire: str) -> None:
    scene = make_wire(wire, settings={"mode": "yolo"})
    cut = Reply(calls=[Call("Bash", {"command": "touch made"})])
    scene.server.add(Cut(cut, at="call"))
    scene.server.say("whole")
    events = await scene.play()
    assert len(of_type(events, ModelRetrying)) == 1
    assert not of_type(events, ToolStarted)
    assert not (scene.workspace / "made").exists()
    assert finish(events).text == "whole"


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
async def test_a_stream_that_ends_without_a_finish_is_not_believed(
    make_wire: WireSceneMaker, wire: str
) -> None:
    scene = make_wire(wire, settings={"mode": "yolo"})
    cut = Reply(calls=[Call("Bash", {"command": "touch made"})])
    scene.server.add(Cut(cut, at="end", how="end"))
    scene.server.say("whole")
    events = await scene.play()
    assert not (scene.workspace / "made").exists()
    assert finish(events).text == "whole"


@each_wire
async def test_a_full_window_is_recognised(make_wire: WireSceneMaker, wire: str) -> None:
    scene = make_wire(wire)
    scene.server.add(failures.context_overflow())
    events = await scene.play()
    assert finish(events).reason == "failed"
    assert "too long for this model" in finish(events).hint
    assert len(scene.server.requests) == 1


@pytest.mark.parametrize("wording", sorted(failures.OVERFLOWS))
async def test_a_full_window_is_recognised_in_other_words(
    make_wire: WireSceneMaker, wording: str
) -> None:
    scene = make_wire("openai")
    scene.server.add(failures.context_overflow(wording))
    assert "too long for this model" in finish(await scene.play()).hint


async def test_requests_share_their_beginning_to_the_byte(make_wire: WireSceneMaker) -> None:
    scene = make_wire("openai", files={"a": "x"})
    scene.server.add(Reply("one", calls=[Call("Read", {"file_path": "a"})]))
    scene.server.say("two")
    scene.server.say("three")
    await scene.play("first")
    await scene.play("second")
    bodies = [request.body for request in scene.server.requests]
    for before, after in itertools.pairwise(bodies):
        assert json.dumps(after["tools"]) == json.dumps(before["tools"])
        count = len(before["messages"])
        assert json.dumps(after["messages"][:count]) == json.dumps(before["messages"])


async def test_cache_breakpoints_are_set_for_anthropic_alone(make_wire: WireSceneMaker) -> None:
    for wire in ("anthropic", "openai"):
        scene = make_wire(wire)
        scene.server.say("ok")
        await scene.play()
        body = sent_texts(scene.server.requests[-1].body)
        assert ("cache_control" in body) == (wire == "anthropic")


async def test_a_conversation_survives_changes_of_provider(make_wire: WireSceneMaker) -> None:
    scene = make_wire("gemini", files={"a": "alpha"})
    for wire in ("gemini", "anthropic", "openai", "gemini"):
        scene.session.use_model(WIRES[wire][0])
        scene.server.add(Reply(thinking="hm", calls=[Call("Read", {"file_path": "a"})]))
        scene.server.say(f"from {wire}")
        events = await scene.play()
        assert finish(events).text == f"from {wire}"
    ids = [
        call["id"]
        for message in scene.server.requests[5].body["messages"]
        for call in message.get("tool_calls", ())
    ]
    assert ids
    assert all(len(each) <= 40 for each in ids), "OpenAI refuses longer ids"
    assert_valid(scene.session.messages)
    last = [r.body for r in scene.server.requests][-1]
    assert "thoughtSignature" in json.dumps(last)


async def test_a_killed_worker_is_replaced_and_the_request_made_again(
    make_wire: WireSceneMaker,
) -> None:
    import os
    import signal

    from agent_cli.models.worker_process import WorkerProcess

    own = WorkerProcess()
    scene = make_wire("openai", worker=own)
    scene.server.add(Stall(Reply("half of it"), at=2))
    scene.server.say("whole")
    events: list[Event] = []
    async with aclosing(scene.session.run("go")) as stream:
        async for event in stream:
            events.append(event)
            if isinstance(event, TextDelta) and own.pid and len(scene.server.requests) == 1:
                os.kill(own.pid, signal.SIGKILL)
    await own.close()
    assert len(of_type(events, ModelRetrying)) == 1
    assert finish(events).text == "whole"


async def test_a_worker_is_started_once_however_many_ask_for_it(make_wire: WireSceneMaker) -> None:
    import asyncio

    from agent_cli.models.worker_process import WorkerProcess

    own = WorkerProcess()
    scene = make_wire("openai", worker=own)
    scene.server.say("hello")
    warming = asyncio.gather(*(scene.session.warm() for _ in range(3)))
    events = await scene.play()
    await warming
    await own.close()
    assert not of_type(events, ModelRetrying)
    assert finish(events).text == "hello"


async def test_a_hung_worker_is_replaced(make_wire: WireSceneMaker) -> None:
    import os
    import signal

    from agent_cli.models.worker_process import WorkerProcess

    own = WorkerProcess(patience=2.0)
    scene = make_wire("openai", worker=own)
    scene.server.add(Stall(Reply("half of it"), at=2))
    scene.server.say("whole")
    events: list[Event] = []
    async with aclosing(scene.session.run("go")) as stream:
        async for event in stream:
            events.append(event)
            if isinstance(event, TextDelta) and own.pid and len(scene.server.requests) == 1:
                os.kill(own.pid, signal.SIGSTOP)
    await own.close()
    assert finish(events).text == "whole"


async def test_a_model_that_writes_calls_as_text_is_asked_that_way(
    make_wire: WireSceneMaker,
) -> None:
    scene = make_wire("openai", files={"a": "alpha\n"})
    lone = '```json\n{"name": "Read", "arguments": {"file_path": "a"}}\n```'
    scene.server.say(lone)
    scene.server.say(
        'It is there.\n<tool_call>{"name": "Read", "arguments": {"path": "a"}}</tool_call>'
    )
    scene.server.say("alpha it is")
    events = await scene.play()
    assert len(of_type(events, ToolFinished)) == 2
    assert all(e.result.success for e in of_type(events, ToolFinished))
    assert finish(events).text == "alpha it is"
    second = scene.server.requests[1].body
    assert "tools" not in second
    assert "alpha" in sent_texts(second["messages"][-1])
    assert isinstance(scene.session.messages[-2], ToolMessage)


async def test_silence_is_given_up_after_a_while(make_wire: WireSceneMaker) -> None:
    scene = make_wire("openai", settings={"limits": {"retries": 0, "idle_seconds": 0.5}})
    scene.server.add(Stall(Reply("half"), at=1))
    events = await asyncio.wait_for(scene.play(), 20)
    assert finish(events).reason == "temporary"
    assert "silent" in finish(events).error
    assert isinstance(events[-1], TurnFinished)


async def test_the_window_comes_from_the_catalogue_or_the_configuration() -> None:
    from agent_cli.config.schema import Settings
    from agent_cli.core.model import ModelFacts
    from agent_cli.models.worker_process import WorkerProcess
    from agent_cli.runtime import model_source

    key = {"OPENAI_API_KEY": "sk-proj-0123456789abcdefghijABCDEFGHIJ"}
    given = {"model": "openai/gpt-4o", "models": {"openai/mine": {"window": 5000}}}
    source = model_source(Settings.model_validate(given), key, WorkerProcess())
    try:
        assert (await source.describe("openai/gpt-4o")).window == 128_000
        assert await source.describe("openai/mine") == ModelFacts(window=5000)
        assert await source.describe("openai/nobody-knows-it") == ModelFacts()
    finally:
        await source.close()
