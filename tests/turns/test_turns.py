"""Whole turns through Session with a scripted model."""

import asyncio
from contextlib import aclosing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_cli.core.events import (
    EVENT,
    ApprovalAnswered,
    ApprovalAsked,
    Event,
    ModelRetrying,
    Notice,
    PromptAdded,
    RequestWithdrawn,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    UsageChanged,
)
from agent_cli.core.inbox import Approval
from agent_cli.core.messages import AssistantMessage, ToolMessage, UserMessage
from tests.kit.sessions import SceneMaker, assert_valid, finish, of_type, results


def call(name: str, **arguments: object) -> dict[str, object]:
    return {"name": name, "arguments": arguments}


async def test_an_answer_without_calls_ends_the_turn(make_session: SceneMaker) -> None:
    scene = make_session({"text": "Hello there.", "pieces": 3, "usage": {"input_tokens": 5}})
    events = await scene.play("hi")
    assert isinstance(events[0], TurnStarted)
    assert "".join(e.text for e in of_type(events, TextDelta)) == "Hello there."
    assert finish(events).reason == "done"
    assert finish(events).text == "Hello there."
    assert finish(events).usage.input_tokens == 5
    assert [m.role for m in scene.session.messages] == ["user", "assistant"]


async def test_results_go_back_to_the_model_in_the_order_of_the_calls(
    make_session: SceneMaker,
) -> None:
    scene = make_session(
        {"calls": [call("Read", file_path=name) for name in ("a", "missing", "b")]},
        {"text": "done"},
        files={"a": "first\n", "b": "second\n"},
    )
    events = await scene.play()
    sent = [m for m in scene.model.requests[1].messages if isinstance(m, ToolMessage)]
    assert [m.is_error for m in sent] == [False, True, False]
    assert "first" in str(sent[0].content)
    assert "second" in str(sent[2].content)
    assert finish(events).text == "done"
    assert_valid(scene.session.messages)


async def test_an_unknown_tool_names_those_that_exist(make_session: SceneMaker) -> None:
    scene = make_session({"calls": [call("Teleport")]}, {"text": "ok"})
    events = await scene.play()
    (finished,) = of_type(events, ToolFinished)
    assert not finished.result.success
    assert "Read" in str(finished.result.llm_content)
    assert finish(events).reason == "done"


async def test_a_wrong_letter_case_reaches_the_tool(make_session: SceneMaker) -> None:
    scene = make_session({"calls": [call("READ_FILE", path="a")]}, {"text": "ok"}, files={"a": "x"})
    events = await scene.play()
    assert of_type(events, ToolStarted)[0].tool == "Read"
    assert of_type(events, ToolFinished)[0].result.success


async def test_a_dangerous_call_waits_for_a_yes(make_session: SceneMaker) -> None:
    scene = make_session({"calls": [call("Bash", command="touch made")]}, {"text": "ok"})
    asked: list[ApprovalAsked] = []

    def answer(event: ApprovalAsked) -> Approval:
        asked.append(event)
        assert not (scene.workspace / "made").exists()
        return Approval(answer="once")

    events = await scene.play(answer=answer)
    assert len(asked) == 1
    assert (scene.workspace / "made").exists()
    assert of_type(events, ApprovalAnswered)[0].answer == "once"


async def test_a_no_with_a_reason_reaches_the_model(make_session: SceneMaker) -> None:
    scene = make_session({"calls": [call("Bash", command="touch made")]}, {"text": "ok"})
    await scene.play(answer=lambda _: Approval(answer="no", reason="use git instead"))
    assert not (scene.workspace / "made").exists()
    told = scene.model.requests[1].messages[-1]
    assert isinstance(told, ToolMessage)
    assert "use git instead" in str(told.content)
    assert told.is_error


async def test_without_a_person_what_asks_is_denied(make_session: SceneMaker) -> None:
    scene = make_session(
        {"calls": [call("Bash", command="touch made")]}, {"text": "ok"}, attended=False
    )
    events = await scene.play()
    assert not (scene.workspace / "made").exists()
    assert finish(events).denials == 1


async def test_a_deny_rule_holds_in_yolo_mode(make_session: SceneMaker) -> None:
    scene = make_session(
        {"calls": [call("Bash", command="touch made"), call("Bash", command="touch other")]},
        {"text": "ok"},
        settings={"mode": "yolo", "permissions": {"deny": ["Bash(touch made)"]}},
    )
    await scene.play()
    assert not (scene.workspace / "made").exists()
    assert (scene.workspace / "other").exists()


async def test_steering_reaches_the_model_before_its_next_step(make_session: SceneMaker) -> None:
    scene = make_session({"calls": [call("Read", file_path="a")]}, {"text": "ok"}, files={"a": "x"})
    events: list[Event] = []
    async with aclosing(scene.session.run("go")) as stream:
        async for event in stream:
            events.append(event)
            if isinstance(event, ToolFinished):
                assert scene.session.steer("and be quick")
    assert of_type(events, PromptAdded)[0].text == "and be quick"
    last = scene.model.requests[1].messages[-1]
    assert isinstance(last, UserMessage)
    assert last.content == "and be quick"


async def test_steering_during_the_last_step_is_still_answered(make_session: SceneMaker) -> None:
    scene = make_session({"text": "first", "pieces": 5, "delay": 0.01}, {"text": "second"})
    async with aclosing(scene.session.run("go")) as stream:
        async for event in stream:
            if isinstance(event, TextDelta) and event.text == "f":
                assert scene.session.steer("wait")
            if isinstance(event, TurnFinished):
                assert event.text == "second"
                assert not scene.session.steer("too late")


async def test_an_interrupt_while_text_streams_keeps_what_was_shown(
    make_session: SceneMaker,
) -> None:
    scene = make_session({"text": "half of it", "hang": True}, {"text": "again"})
    events: list[Event] = []
    async with aclosing(scene.session.run("go")) as stream:
        async for event in stream:
            events.append(event)
            if isinstance(event, TextDelta):
                scene.session.interrupt()
    assert finish(events).reason == "interrupted"
    last = scene.session.messages[-1]
    assert isinstance(last, AssistantMessage)
    assert last.text == "half of it"
    assert last.interrupted
    assert finish(await scene.play("more")).text == "again"


async def test_an_interrupt_before_the_first_step_ends_the_turn_too(
    make_session: SceneMaker,
) -> None:
    scene = make_session({"text": "never said", "delay": 60})
    playing = asyncio.create_task(scene.play("go"))
    while not scene.session.is_running:  # noqa: ASYNC110 (the tick matters)
        await asyncio.sleep(0)
    assert scene.session.interrupt()
    assert finish(await asyncio.wait_for(playing, 30)).reason == "interrupted"


async def test_an_interrupt_during_calls_closes_each_of_them(make_session: SceneMaker) -> None:
    scene = make_session(
        {"calls": [call("Bash", command="sleep 60"), call("Bash", command="sleep 61")]},
        {"text": "next"},
        settings={"mode": "yolo"},
    )
    events: list[Event] = []
    async with aclosing(scene.session.run("go")) as stream:
        async for event in stream:
            events.append(event)
            if isinstance(event, ToolStarted):
                scene.session.interrupt()
    assert finish(events).reason == "interrupted"
    assert_valid(scene.session.messages)
    assert [m.role for m in scene.session.messages] == ["user", "assistant", "tool", "tool"]
    assert finish(await scene.play()).reason == "done"


async def test_an_interrupt_keeps_the_results_of_calls_that_had_finished(
    make_session: SceneMaker,
) -> None:
    calls = [
        call("Write", file_path="new.txt", content="here\n"),
        call("Bash", command="sleep 60"),
        call("Bash", command="sleep 61"),
    ]
    scene = make_session({"calls": calls}, {"text": "next"}, settings={"mode": "yolo"})
    async with aclosing(scene.session.run("go")) as stream:
        async for event in stream:
            if isinstance(event, ToolStarted) and event.tool == "Bash":
                scene.session.interrupt()
    told = [m for m in scene.session.messages if isinstance(m, ToolMessage)]
    assert [m.is_error for m in told] == [False, True, True]
    assert "Created new.txt" in str(told[0].content)
    assert "Interrupted" in str(told[1].content)
    assert_valid(scene.session.messages)


async def test_an_interrupt_while_a_person_is_asked_means_no(make_session: SceneMaker) -> None:
    scene = make_session({"calls": [call("Bash", command="touch made")]}, {"text": "next"})
    async with aclosing(scene.session.run("go")) as stream:
        async for event in stream:
            if isinstance(event, ApprovalAsked):
                scene.session.interrupt()
    assert not (scene.workspace / "made").exists()
    assert scene.session.waiting == ()
    assert_valid(scene.session.messages)


async def test_closing_the_generator_ends_the_turn(make_session: SceneMaker) -> None:
    scene = make_session({"calls": [call("Bash", command="sleep 60")]}, settings={"mode": "yolo"})
    async with aclosing(scene.session.run("go")) as stream:
        async for event in stream:
            if isinstance(event, ToolStarted):
                break
    assert not scene.session.is_running
    assert_valid(scene.session.messages)


async def test_a_temporary_error_is_retried_visibly(make_session: SceneMaker) -> None:
    scene = make_session(
        {"error": {"kind": "rate_limit", "message": "slow down", "retry_after": 0}},
        {"text": "ok"},
    )
    events = await scene.play()
    assert of_type(events, ModelRetrying)[0].reason == "slow down"
    assert finish(events).text == "ok"


async def test_a_wait_of_a_day_is_reported_instead(make_session: SceneMaker) -> None:
    scene = make_session({"error": {"kind": "rate_limit", "retry_after": 86400}})
    events = await scene.play()
    assert finish(events).reason == "temporary"
    assert not of_type(events, ModelRetrying)


async def test_a_permanent_error_ends_the_turn_at_once(make_session: SceneMaker) -> None:
    scene = make_session({"error": {"kind": "authentication", "message": "bad key"}})
    events = await scene.play()
    assert finish(events).reason == "failed"
    assert finish(events).error == "bad key"
    assert len(scene.model.requests) == 1


async def test_a_fallback_stands_in_for_one_turn(make_session: SceneMaker) -> None:
    down = {"error": {"kind": "server", "retry_after": 0}}
    scene = make_session(
        down, down, down, {"text": "back again"},
        models={"other": [{"text": "from the other"}]},
        settings={"fallback_models": ["other"]},
    )  # fmt: skip
    events = await scene.play()
    assert finish(events).text == "from the other"
    assert any("Using other" in notice.text for notice in of_type(events, Notice))
    assert finish(await scene.play()).text == "back again"


async def test_the_step_limit_ends_the_turn(make_session: SceneMaker) -> None:
    steps = [{"calls": [call("Read", file_path="a", offset=n)]} for n in range(1, 10)]
    scene = make_session(*steps, files={"a": "1\n2\n3\n4\n"}, settings={"limits": {"steps": 3}})
    events = await scene.play()
    assert finish(events).reason == "step_limit"
    assert len(scene.model.requests) == 3
    assert_valid(scene.session.messages)


async def test_the_cost_limit_ends_the_turn(make_session: SceneMaker) -> None:
    step = {"calls": [call("Read", file_path="a")], "usage": {"cost": 0.3}}
    scene = make_session(
        step, step, step, files={"a": "x"}, attended=False, settings={"budget": {"session": 0.5}}
    )
    events = await scene.play()
    assert finish(events).reason == "cost_limit"
    assert len(scene.model.requests) == 2
    assert of_type(events, UsageChanged)[-1].total.cost == pytest.approx(0.6)


async def test_the_same_call_with_the_same_result_is_nudged_then_stopped(
    make_session: SceneMaker,
) -> None:
    scene = make_session(*[{"calls": [call("Read", file_path="a")]}] * 9, files={"a": "x"})
    events = await scene.play()
    assert finish(events).reason == "repetition"
    told = [str(e.content) for e in scene.session.messages if isinstance(e, ToolMessage)]
    assert len(told) == 5
    assert ["very call" in text for text in told] == [False, False, True, True, True]


async def test_a_call_whose_result_changes_is_no_repetition(make_session: SceneMaker) -> None:
    scene = make_session(
        *[{"calls": [call("Bash", command="date +%N")]}] * 8, {"text": "ok"},
        settings={"mode": "yolo"},
    )  # fmt: skip
    assert finish(await scene.play()).reason == "done"


async def test_calls_that_are_refused_again_and_again_end_the_turn(
    make_session: SceneMaker,
) -> None:
    steps = [{"calls": [call("Bash", command=f"rm x{n}")]} for n in range(9)]
    scene = make_session(*steps, settings={"permissions": {"deny": ["Bash"]}})
    events = await scene.play()
    assert finish(events).reason == "denied"
    assert len(of_type(events, ToolFinished)) == 5


async def test_overflow_that_cannot_be_helped_is_told(make_session: SceneMaker) -> None:
    scene = make_session(*[{"error": {"kind": "overflow", "message": "too long"}}] * 3)
    events = await scene.play()
    assert finish(events).reason == "failed"
    assert len(scene.model.requests) == 1


async def test_a_call_cut_by_the_output_limit_never_runs(make_session: SceneMaker) -> None:
    scene = make_session(
        {"calls": [{"name": "Bash", "arguments": '{"command": "touch ma'}], "finish": "length"},
        {"text": "ok"},
        settings={"mode": "yolo"},
    )
    events = await scene.play()
    assert not of_type(events, ToolStarted)
    told = scene.model.requests[1].messages[-1]
    assert isinstance(told, ToolMessage)
    assert "smaller pieces" in str(told.content)


async def test_two_requests_share_their_beginning_to_the_byte(make_session: SceneMaker) -> None:
    scene = make_session(
        {"text": "looking", "calls": [call("Read", file_path="a")]},
        {"text": "ok"},
        {"text": "yes"},
        files={"a": "x"},
    )
    await scene.play("one")
    await scene.play("two")
    first, second, third = scene.model.requests
    for before, after in ((first, second), (second, third)):
        assert after.system == before.system
        assert after.tools == before.tools
        assert after.messages[: len(before.messages)] == before.messages


async def test_an_empty_reply_is_asked_about_once(make_session: SceneMaker) -> None:
    scene = make_session({"text": ""}, {"text": ""}, {"text": "never asked"})
    events = await scene.play()
    assert len(scene.model.requests) == 2
    assert finish(events).reason == "done"
    assert any("empty" in notice.text for notice in of_type(events, Notice))


async def test_white_space_without_end_is_cut(make_session: SceneMaker) -> None:
    scene = make_session({"text": "ok" + "\n" * 5000, "pieces": 50, "hang": True}, {"text": "b"})
    events = await asyncio.wait_for(scene.play(), 10)
    assert finish(events).text == "ok"


async def test_a_secret_in_a_result_is_hidden_from_the_model(make_session: SceneMaker) -> None:
    key = "sk-ant-api03-" + "Ab3dE6gH9jK2mN5pQ8sT1vW4yZ7" * 2
    scene = make_session(
        {"calls": [call("Read", file_path="log")]}, {"text": "ok"}, files={"log": f"key {key}\n"}
    )
    events = await scene.play()
    assert key not in str(scene.model.requests[1].messages)
    assert key not in "".join(event.model_dump_json() for event in events)


async def test_plan_mode_offers_nothing_that_changes_something(make_session: SceneMaker) -> None:
    scene = make_session(
        {"calls": [call("Bash", command="touch made")]}, {"text": "ok"}, settings={"mode": "plan"}
    )
    await scene.play()
    names = [tool["function"]["name"] for tool in scene.model.requests[0].tools]
    assert "Read" in names
    assert "Bash" in names  # for commands that are proven to change nothing
    assert not {"Write", "Edit", "Replace"} & set(names)
    assert not (scene.workspace / "made").exists()


@given(data=st.data())
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_events_keep_their_order_in_every_turn(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    calls = st.sampled_from(
        [
            call("Read", file_path="a"),
            call("Read", file_path="missing"),
            call("Nothing"),
            {"name": "Read", "arguments": "{broken"},
            call("Bash", command="true"),
            call("Bash", command="exit 3"),
            call("Bash", command="touch made"),
        ]
    )
    step = st.one_of(
        st.builds(
            lambda text, wanted: {"text": text, "calls": wanted},
            st.text("ab ", max_size=5),
            st.lists(calls, max_size=4),
        ),
        st.just({"error": {"kind": "server", "retry_after": 0}}),
        st.just({"text": "half", "error": {"kind": "connection", "retry_after": 0}}),
        st.just({"thinking": "hm", "text": "x", "finish": "filter"}),
    )
    steps = data.draw(st.lists(step, max_size=6))
    interrupt_at = data.draw(st.one_of(st.none(), st.integers(0, 12)))
    mode = data.draw(st.sampled_from(["yolo", "default"]))

    async def check() -> None:
        maker = SceneMaker(tmp_path_factory.mktemp("turn"))
        scene = maker(*steps, files={"a": "x"}, settings={"mode": mode})
        events: list[Event] = []
        async with aclosing(scene.session.run("go")) as stream:
            async for event in stream:
                events.append(event)
                if len(events) == interrupt_at:
                    scene.session.interrupt()
                elif isinstance(event, ApprovalAsked) and interrupt_at != 12:
                    scene.session.reply(event.request.id, Approval(answer="once"))
                elif isinstance(event, ApprovalAsked):
                    scene.session.interrupt()
        await maker.close()
        assert_ordered(events)
        assert_valid(scene.session.messages)

    asyncio.run(check())


def assert_ordered(events: list[Event]) -> None:
    assert isinstance(events[0], TurnStarted)
    assert [type(e) for e in events].count(TurnStarted) == 1
    assert isinstance(events[-1], TurnFinished)
    assert [type(e) for e in events].count(TurnFinished) == 1
    running: set[str] = set()
    waiting: dict[str, str] = {}
    for event in events:
        if isinstance(event, ApprovalAsked):
            waiting[event.request.id] = event.request.call_id
        elif isinstance(event, ApprovalAnswered | RequestWithdrawn):
            assert waiting.pop(event.request_id) in running
        elif isinstance(event, ToolStarted):
            assert event.call_id not in running
            running.add(event.call_id)
        elif isinstance(event, ToolFinished):
            running.remove(event.call_id)
        elif isinstance(event, UsageChanged):
            assert not running
        told = event.model_dump_json()
        assert EVENT.validate_json(told).model_dump_json() == told
    assert not running
    assert not waiting
    assert set(results(events)) == {e.call_id for e in of_type(events, ToolStarted)}


async def test_a_retry_after_half_a_reply_ends_with_words_of_ours(make_session: SceneMaker) -> None:
    broken = {"text": "half a", "error": {"kind": "authentication", "message": "gone"}}
    scene = make_session(broken, {"text": "sentence"})
    await scene.play()
    async with aclosing(scene.session.run(None)) as events:
        assert finish([event async for event in events]).text == "sentence"
    last = scene.model.requests[-1].messages[-1]
    assert isinstance(last, UserMessage)
    assert last.origin == "program"
