"""What the pipeline promises for every tool, shown with tools made for it."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

import pytest

from agent_cli.core.display import TextBlock
from agent_cli.core.errors import ToolFailure
from agent_cli.core.events import ToolFinished, ToolProgress, ToolStarted
from agent_cli.core.inbox import Answers, Approval, Question
from agent_cli.core.tool import (
    AnyTool,
    Description,
    Target,
    Tool,
    ToolKind,
    ToolParams,
    ToolResult,
)
from agent_cli.core.tool_context import ToolContext
from tests.kit.sessions import SceneMaker, finish, of_type


class Params(ToolParams):
    """One word."""

    word: str = ""


Run = Callable[[Params, ToolContext], Awaitable[ToolResult]]


def make(name: str, run: Run, **more: Any) -> AnyTool:
    kind = more.pop("kind", ToolKind.READONLY)
    return Tool(
        name=name, kind=kind, params=Params, run=run, description=Description(short=name), **more
    )


def calls(*names: str) -> dict[str, Any]:
    return {
        "calls": [{"name": name, "arguments": {"word": str(n)}} for n, name in enumerate(names)]
    }


async def test_calls_that_are_safe_side_by_side_run_side_by_side(make_session: SceneMaker) -> None:
    barrier = asyncio.Barrier(3)

    async def meet(params: Params, context: ToolContext) -> ToolResult:
        await asyncio.wait_for(barrier.wait(), 10)
        return ToolResult(llm_content=params.word)

    scene = make_session(calls("Meet", "Meet", "Meet"), {"text": "ok"}, extra=[make("Meet", meet)])
    events = await scene.play()
    assert all(event.result.success for event in of_type(events, ToolFinished))
    told = [m.content for m in scene.session.messages if m.role == "tool"]
    assert told == ["0", "1", "2"]


async def test_other_calls_run_one_after_the_other_in_their_order(make_session: SceneMaker) -> None:
    seen: list[str] = []

    async def write(params: Params, context: ToolContext) -> ToolResult:
        seen.append(f"start {params.word}")
        await asyncio.sleep(0)
        seen.append(f"end {params.word}")
        return ToolResult(llm_content=params.word)

    tool = make("Put", write, kind=ToolKind.WRITE)
    scene = make_session(
        calls("Put", "Put"), {"text": "ok"}, extra=[tool], settings={"mode": "yolo"}
    )
    await scene.play()
    assert seen == ["start 0", "end 0", "start 1", "end 1"]


async def test_one_failing_call_does_not_stop_the_others(make_session: SceneMaker) -> None:
    async def odd(params: Params, context: ToolContext) -> ToolResult:
        if params.word == "1":
            raise RuntimeError("secret detail sk-ant-api03-" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7" * 2)
        if params.word == "2":
            raise ToolFailure("try a number below two")
        return ToolResult(llm_content="fine")

    scene = make_session(calls(*["Odd"] * 4), {"text": "ok"}, extra=[make("Odd", odd)])
    events = await scene.play()
    outcomes = [
        event.result for event in sorted(of_type(events, ToolFinished), key=lambda e: e.call_id)
    ]
    assert [result.success for result in outcomes] == [True, False, False, True]
    assert "bug in the tool" in str(outcomes[1].llm_content)
    assert "Traceback" not in str(outcomes[1].llm_content)
    assert "sk-ant" not in outcomes[1].model_dump_json()
    assert outcomes[2].llm_content == "try a number below two"
    assert finish(events).reason == "done"


async def test_a_tool_that_takes_too_long_is_stopped(make_session: SceneMaker) -> None:
    was_cancelled = asyncio.Event()

    async def slow(params: Params, context: ToolContext) -> ToolResult:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            was_cancelled.set()
            raise
        return ToolResult()

    scene = make_session(calls("Slow"), {"text": "ok"}, extra=[make("Slow", slow, timeout=0.05)])
    events = await scene.play()
    (finished,) = of_type(events, ToolFinished)
    assert finished.result.error is not None
    assert finished.result.error.type == "timeout"
    assert was_cancelled.is_set()


async def test_progress_is_shown_between_start_and_finish(make_session: SceneMaker) -> None:
    async def talk(params: Params, context: ToolContext) -> ToolResult:
        context.progress("half way")
        context.progress(TextBlock(text="a block"))
        return ToolResult(llm_content="done")

    scene = make_session(calls("Talk"), {"text": "ok"}, extra=[make("Talk", talk)])
    events = await scene.play()
    kinds = [type(e) for e in events if isinstance(e, ToolStarted | ToolProgress | ToolFinished)]
    assert kinds == [ToolStarted, ToolProgress, ToolProgress, ToolFinished]
    assert [p.text for p in of_type(events, ToolProgress)] == ["half way", ""]


async def test_tools_keep_state_for_the_session_and_it_is_closed(make_session: SceneMaker) -> None:
    closed: list[int] = []

    class Counter:
        def __init__(self) -> None:
            self.count = 0

        async def close(self) -> None:
            closed.append(self.count)

    async def count(params: Params, context: ToolContext) -> ToolResult:
        counter = context.state(Counter)
        counter.count += 1
        return ToolResult(llm_content=str(counter.count))

    scene = make_session(calls("Count"), {"text": "a"}, calls("Count"), {"text": "b"}, extra=[make("Count", count)])  # fmt: skip
    await scene.play()
    events = await scene.play()
    assert of_type(events, ToolFinished)[0].result.llm_content == "2"
    await scene.session.close()
    assert closed == [2]


async def test_a_tool_that_calls_a_tool_passes_the_same_checks(make_session: SceneMaker) -> None:
    async def outer(params: Params, context: ToolContext) -> ToolResult:
        result = await context.call("Bash", {"command": "touch made"})
        return ToolResult(llm_content=f"inner: {result.success}")

    tool = make("Outer", outer)
    scene = make_session(calls("Outer"), {"text": "ok"}, extra=[tool])
    asked: list[str] = []

    def answer(event: Any) -> Approval:
        asked.append(event.request.preview.command)
        return Approval(answer="no")

    events = await scene.play(answer=answer)
    assert asked == ["touch made"]
    assert not (scene.workspace / "made").exists()
    inner = of_type(events, ToolStarted)[1]
    assert inner.parent_id == of_type(events, ToolStarted)[0].call_id
    assert of_type(events, ToolFinished)[-1].result.llm_content == "inner: False"


async def test_tools_that_call_each_other_for_ever_are_stopped(make_session: SceneMaker) -> None:
    async def again(params: Params, context: ToolContext) -> ToolResult:
        return await context.call("Again", {})

    scene = make_session(calls("Again"), {"text": "ok"}, extra=[make("Again", again)])
    events = await asyncio.wait_for(scene.play(), 10)
    assert "levels deep" in str(of_type(events, ToolFinished)[-1].result.llm_content)


async def test_a_question_is_answered_by_id(make_session: SceneMaker) -> None:
    async def ask(params: Params, context: ToolContext) -> ToolResult:
        answers = await context.ask((Question(text="Which?"),))
        return ToolResult(llm_content=answers.answers[0])

    scene = make_session(calls("Ask"), {"text": "ok"}, extra=[make("Ask", ask, timeout=None)])
    events = []
    async with aclosing(scene.session.run("go")) as stream:
        async for event in stream:
            events.append(event)
            for request in scene.session.waiting:
                assert scene.session.reply(request.id, Answers(answers=("that one",)))
                assert not scene.session.reply(request.id, Answers(answers=("no, this",)))
    assert of_type(events, ToolFinished)[0].result.llm_content == "that one"


async def test_a_long_result_is_cut_and_kept_whole_where_it_can_be_read(
    make_session: SceneMaker,
) -> None:
    async def flood(params: Params, context: ToolContext) -> ToolResult:
        return ToolResult(llm_content="first line\n" + "x" * 200_000 + "\nlast line")

    scene = make_session(calls("Flood"), {"text": "ok"}, extra=[make("Flood", flood)])
    events = await scene.play()
    text = str(of_type(events, ToolFinished)[0].result.llm_content)
    assert len(text) < 51_000
    assert text.startswith("first line")
    assert text.endswith("last line")
    path = text.split("The whole text is in ")[1].split(".txt", maxsplit=1)[0] + ".txt"
    scene.model._steps += [  # the model follows the hint
        type(scene.model._steps[0]).model_validate(
            {"calls": [{"name": "Read", "arguments": {"file_path": path, "limit": 1}}]}
        ),
        type(scene.model._steps[0]).model_validate({"text": "read"}),
    ]
    events = await scene.play()
    assert of_type(events, ToolFinished)[0].result.success
    assert "first line" in str(of_type(events, ToolFinished)[0].result.llm_content)


async def test_every_call_is_written_to_the_audit_log(make_session: SceneMaker) -> None:
    scene = make_session(
        {"calls": [
            {"name": "Read", "arguments": {"file_path": "a"}},
            {"name": "Bash", "arguments": {"command": "touch x # --password hunter2hunter2"}},
            {"name": "Nope", "arguments": {}},
        ]},
        {"text": "ok"},
        files={"a": "x"},
    )  # fmt: skip
    await scene.play(answer=lambda _: Approval(answer="no"))
    log = scene.home / ".local" / "state" / "agent" / "audit.jsonl"
    assert log.stat().st_mode & 0o777 == 0o600
    records = {r["tool"]: r for r in map(json.loads, log.read_text().splitlines())}
    assert records["Read"]["decision"] == "allow"
    assert records["Read"]["success"] is True
    assert records["Bash"]["decision"] == "ask"
    assert records["Bash"]["answer"] == "no"
    assert records["Bash"]["error"] == "permission"
    assert records["Nope"]["decision"] == "none"


@pytest.mark.parametrize("target", ["../outside", "~/.ssh/id_rsa", "/etc/passwd"])
async def test_a_read_outside_asks(make_session: SceneMaker, target: str) -> None:
    scene = make_session(
        {"calls": [{"name": "Read", "arguments": {"file_path": target}}]}, {"text": "ok"}
    )
    asked: list[Any] = []

    def answer(event: Any) -> Approval:
        asked.append(event.request.reasons)
        return Approval()

    await scene.play(answer=answer)
    assert len(asked) == 1


async def test_a_path_that_means_nothing_is_an_error_not_a_question(
    make_session: SceneMaker,
) -> None:
    tool = make(
        "Look", lambda params, context: None,  # type: ignore[arg-type, return-value]
        targets=lambda params: (Target("path", "x" * 5000),),
    )  # fmt: skip
    scene = make_session(calls("Look"), {"text": "ok"}, extra=[tool])
    events = await scene.play()
    error = of_type(events, ToolFinished)[0].result.error
    assert error is not None
    assert error.type == "validation"
