"""Agents that the model sends with Task, through whole turns."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from agent_cli.core.events import (
    EVENT,
    ApprovalAnswered,
    ApprovalAsked,
    Event,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    UsageChanged,
)
from agent_cli.core.inbox import Approval
from agent_cli.core.messages import Content, ToolMessage, text_of
from agent_cli.core.policy import Mode
from agent_cli.core.tool import Description, Tool, ToolKind, ToolParams, ToolResult
from agent_cli.core.tool_context import ToolContext
from tests.kit.sessions import Scene, SceneMaker, assert_valid, finish, of_type, results
from tests.kit.shells import until


def profile(model: str, *more: str) -> str:
    """A profile of the person's, which uses a model of its own."""
    return "\n".join(("---", f"model: {model}", *more, "---", f"You are {model}."))


def task(id: str, name: str, prompt: str = "do it") -> dict[str, Any]:
    arguments = {"description": "a part", "prompt": prompt, "profile": name}
    return {"id": id, "name": "Task", "arguments": arguments}


def bash(command: str, id: str = "b") -> dict[str, Any]:
    return {"calls": [{"id": id, "name": "Bash", "arguments": {"command": command}}]}


def give(make_session: SceneMaker, profiles: Mapping[str, str]) -> None:
    """Put profiles into the person's configuration."""
    directory = make_session.home / ".config" / "agent" / "agents"
    directory.mkdir(parents=True)
    for name, text in profiles.items():
        (directory / f"{name}.md").write_text(text, encoding="utf-8")


def offered(scene: Scene, model: str, request: int = 0) -> set[str]:
    sent = scene.models[model].requests[request]
    return {tool["function"]["name"] for tool in sent.tools}


def report(content: Content) -> str:
    """An agent's words, between two lines that mark them as its own."""
    about, line, *words, end = text_of(content).split("\n")
    assert "never instructions" in about
    assert line == end
    return "\n".join(words)


async def test_two_agents_work_side_by_side_and_ask_in_their_own_names(
    make_session: SceneMaker,
) -> None:
    give(make_session, {"one": profile("m1"), "two": profile("m2")})
    scene = make_session(
        {"calls": [task("t1", "one"), task("t2", "two")]},
        {"text": "both are back"},
        models={
            "m1": [bash("touch one"), {"text": "one is done"}],
            "m2": [bash("touch two"), {"text": "two was refused"}],
        },
    )
    events: list[Event] = []
    async with asyncio.timeout(60), aclosing(scene.session.run("go")) as stream:
        async for event in stream:
            events.append(event)
            waiting = scene.session.waiting
            if isinstance(event, ApprovalAsked) and len(waiting) == 2:  # both wait at once
                for request in waiting:
                    assert request.type == "approval"
                    yes = Approval(answer="once") if request.agent == "one" else Approval()
                    scene.session.reply(request.id, yes)
    assert {a.request.agent for a in of_type(events, ApprovalAsked)} == {"one", "two"}
    assert {a.answer for a in of_type(events, ApprovalAnswered)} == {"once", "no"}
    assert (scene.workspace / "one").exists()
    assert not (scene.workspace / "two").exists()
    told = {m.call_id: report(m.content) for m in scene.session.messages if m.role == "tool"}
    assert told == {"t1": "one is done", "t2": "two was refused"}
    assert finish(events).text == "both are back"
    assert [file.path for file in finish(events).receipt.files] == ["one"]
    assert_valid(scene.session.messages)
    assert_grammar(events)
    inner = [e for e in of_type(events, ToolStarted) if e.parent_id]
    assert {e.parent_id for e in inner} == {"t1", "t2"}
    assert all(e.is_folded for e in inner)
    assert len({e.call_id for e in inner}) == 2  # though both models gave the same id
    audit = (scene.home / ".local" / "state" / "agent" / "audit.jsonl").read_text()
    assert sorted(json.loads(line)["agent"] for line in audit.splitlines()) == [
        "",
        "",
        "one",
        "two",
    ]
    progress = "".join(e.text for e in of_type(events, ToolProgress) if e.call_id == "t1")
    assert "touch one" in progress


def assert_grammar(events: list[Event]) -> None:
    """One beginning, one end, each call between its own two, and inside of its parent's."""
    assert [type(e) for e in events].count(TurnStarted) == 1
    assert [type(e) for e in events].count(TurnFinished) == 1
    assert isinstance(events[-1], TurnFinished)
    running: dict[str, ToolStarted] = {}
    for event in events:
        if isinstance(event, ToolStarted):
            assert event.call_id not in running
            assert event.parent_id is None or event.parent_id in running
            running[event.call_id] = event
        elif isinstance(event, ToolFinished):
            del running[event.call_id]
        elif isinstance(event, ToolProgress):
            assert event.call_id in running
        elif isinstance(event, UsageChanged):
            assert event.aside or not running
        told = event.model_dump_json()
        assert EVENT.validate_json(told).model_dump_json() == told
    assert not running


async def test_what_agents_change_at_the_same_time_is_undone_with_the_turn(
    make_session: SceneMaker,
) -> None:
    give(make_session, {"one": profile("m1"), "two": profile("m2")})
    first = "echo 1 > a.txt; until [ -e b.txt ]; do sleep 0.02; done; rm kept.txt"
    second = "until [ -e a.txt ]; do sleep 0.02; done; echo 2 > b.txt"
    scene = make_session(
        {"calls": [task("t1", "one"), task("t2", "two")]},
        {"text": "done"},
        models={"m1": [bash(first), {"text": "x"}], "m2": [bash(second), {"text": "y"}]},
        settings={"mode": "yolo"},
        files={"kept.txt": "kept"},
    )
    ended = finish(await scene.play())
    assert {file.path for file in ended.receipt.files} == {"a.txt", "b.txt", "kept.txt"}
    undoing = scene.session.undoing
    await undoing.apply(await undoing.preview("turn"))
    assert [path.name for path in scene.workspace.iterdir()] == ["kept.txt"]
    assert (scene.workspace / "kept.txt").read_text() == "kept"


async def test_an_agent_knows_only_its_task_and_its_words_stay_its_own(
    make_session: SceneMaker,
) -> None:
    give(make_session, {"one": profile("m1", "tools: read, Grep")})
    scene = make_session(
        {"text": "a secret of ours", "calls": [task("t", "one", "look at a.txt")]},
        {"text": "done"},
        models={
            "m1": [
                {"calls": [{"id": "t", "name": "Read", "arguments": {"file_path": "a.txt"}}]},
                {"text": "it says hello"},
            ]
        },
        files={"a.txt": "hello"},
    )
    events = await scene.play("our own matter")
    first = scene.models["m1"].requests[0]
    assert [m.content for m in first.messages if m.role == "user"] == ["look at a.txt"]
    assert len(first.messages) == 1
    assert "You are m1." in first.system
    assert offered(scene, "m1") == {"Read", "Grep"}
    assert [m.role for m in scene.session.messages] == ["user", "assistant", "tool", "assistant"]
    assert report(results(events)["t"].result.llm_content) == "it says hello"


async def test_what_an_agent_costs_is_counted_to_the_session(make_session: SceneMaker) -> None:
    give(make_session, {"one": profile("m1")})
    scene = make_session(
        {"calls": [task("t", "one")], "usage": {"input_tokens": 10, "cost": 0.01}},
        {"text": "done", "usage": {"input_tokens": 20, "cost": 0.02}},
        models={"m1": [{"text": "x", "usage": {"input_tokens": 500, "cost": 0.5}}]},
    )
    events = await scene.play()
    assert scene.session.usage.cost == pytest.approx(0.53)
    assert finish(events).usage.cost == pytest.approx(0.53)
    assert scene.session.spending.models["m1"].usage.input_tokens == 500
    assert scene.session.context_tokens == 20
    assert results(events)["t"].result.summary == "one · 0 calls · 500 tokens · $0.5000"
    assert_grammar(events)


async def test_an_agent_stops_when_its_own_budget_or_the_sessions_is_spent(
    make_session: SceneMaker,
) -> None:
    give(make_session, {"one": profile("m1", "budget: 0.4"), "two": profile("m2")})
    step = {**bash("pwd"), "text": "so far", "usage": {"input_tokens": 1, "cost": 0.5}}
    scene = make_session(
        {"calls": [task("t1", "one")]},
        {"calls": [task("t2", "two")]},
        {"text": "done"},
        models={"m1": [step, {"text": "never"}], "m2": [step, {"text": "never"}]},
        settings={"budget": {"session": 0.9}},
        attended=False,
    )
    events = await scene.play()
    told = results(events)
    assert "The profile's budget is used up: $0.50 of $0.40." in told["t1"].result.llm_content
    assert "so far" in told["t1"].result.llm_content
    assert "The session's budget is used up" in told["t2"].result.llm_content
    assert finish(events).reason == "cost_limit"


async def test_interrupting_the_turn_ends_the_agents_and_what_they_run(
    make_session: SceneMaker,
) -> None:
    give(make_session, {"one": profile("m1"), "two": profile("m2")})
    scene = make_session(
        {"calls": [task("t1", "one"), task("t2", "two")]},
        models={"m1": [bash("echo $$ > pid; exec sleep 600")], "m2": [{"text": "a", "hang": True}]},
        settings={"mode": "yolo"},
    )
    events: list[Event] = []
    pid = scene.workspace / "pid"
    async with asyncio.timeout(60), aclosing(scene.session.run("go")) as stream:

        async def interrupt() -> None:
            await until(lambda: pid.exists() and bool(pid.read_text().strip()))
            scene.session.interrupt()

        waiter = asyncio.create_task(interrupt())
        async for event in stream:
            events.append(event)
        await waiter
    assert finish(events).reason == "interrupted"
    ends = results(events)
    assert len(ends) == 3
    assert {e.result.error.type.value for e in ends.values() if e.result.error} == {"cancelled"}
    assert_grammar(events)
    assert_valid(scene.session.messages)
    await until(lambda: not runs(int(pid.read_text())))


def runs(pid: int) -> bool:
    try:
        return b"sleep" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


@pytest.mark.parametrize(("depth", "deepest"), [(1, "m1"), (2, "m2")])
async def test_agents_send_others_only_as_deep_as_is_set(
    make_session: SceneMaker, depth: int, deepest: str
) -> None:
    give(make_session, {"one": profile("m1"), "two": profile("m2"), "three": profile("m3")})
    scene = make_session(
        {"calls": [task("t", "one")]},
        {"text": "done"},
        models={
            "m1": [{"calls": [task("t", "two")]}, {"text": "one"}],
            "m2": [{"calls": [task("t", "three")]}, {"text": "two"}],
            "m3": [{"text": "three"}],
        },
        settings={"agents": {"depth": depth, "parallel": 1}},
    )
    events = await scene.play()
    asked = [m for m in ("m1", "m2", "m3") if scene.models[m].requests]
    assert asked[-1] == deepest
    assert "Task" not in offered(scene, deepest)
    assert "AskUser" not in offered(scene, "m1")
    refused = [e for e in of_type(events, ToolFinished) if not e.result.success]
    assert ["'Task' is not available here" in text_of(e.result.llm_content) for e in refused] == [
        True
    ]
    assert finish(events).text == "done"
    assert_grammar(events)


async def test_what_an_agent_of_an_agent_costs_is_counted_to_both(make_session: SceneMaker) -> None:
    give(make_session, {"one": profile("m1", "budget: 0.4"), "two": profile("m2")})
    scene = make_session(
        {"calls": [task("t", "one")]},
        {"text": "done"},
        models={
            "m1": [{"calls": [task("t", "two")]}, {"text": "never"}],
            "m2": [{"text": "x", "usage": {"input_tokens": 1, "cost": 0.5}}],
        },
        settings={"agents": {"depth": 2}},
    )
    events = await scene.play()
    assert "The profile's budget is used up" in text_of(results(events)["t"].result.llm_content)
    assert scene.session.usage.cost == pytest.approx(0.5)


async def test_the_number_of_agents_is_limited_and_none_may_be_sent_at_all(
    make_session: SceneMaker,
) -> None:
    give(make_session, {"one": profile("m1")})
    calls = {"calls": [task("t1", "one"), task("t2", "one"), task("t3", "nobody")]}
    scene = make_session(
        calls,
        {"text": "done"},
        models={"m1": [{"text": "x"}]},
        settings={"agents": {"per_turn": 1}},
    )
    told = {k: text_of(e.result.llm_content) for k, e in results(await scene.play()).items()}
    assert report(told["t1"]) == "x"
    assert "which is the limit" in told["t2"]
    none = make_session({"text": "done"}, settings={"agents": {"depth": 0}})
    await none.play()
    assert "Task" not in {tool["function"]["name"] for tool in none.model.requests[0].tools}


async def test_an_agent_may_never_do_more_than_whoever_sent_it(make_session: SceneMaker) -> None:
    give(make_session, {"free": profile("m1", "mode: yolo")})
    write = {"name": "Write", "arguments": {"file_path": "new", "content": "x"}}
    scene = make_session(
        {"calls": [task("t", "free")]},
        {"text": "done"},
        {"calls": [task("u", "free")]},
        {"text": "done"},
        models={"m1": [{"calls": [write]}, {"text": "a"}, {"calls": [write]}, {"text": "b"}]},
    )
    asked = of_type(await scene.play(answer=lambda _event: Approval()), ApprovalAsked)
    assert [a.request.agent for a in asked] == ["free"]  # the session's mode still asks
    scene.session.use_profile("review")
    assert "Write" not in {tool.name for tool in scene.session.tools}
    events = await scene.play()
    assert not of_type(events, ApprovalAsked)
    assert "Write" not in offered(scene, "m1", 2)
    assert not (scene.workspace / "new").exists()
    assert scene.session.mode is Mode.DEFAULT


async def test_what_is_always_allowed_for_an_agent_holds_for_the_session(
    make_session: SceneMaker,
) -> None:
    give(make_session, {"one": profile("m1")})
    write = {"name": "Write", "arguments": {"file_path": "new", "content": "x"}}
    scene = make_session(
        {"calls": [task("t", "one")]},
        {"calls": [{"name": "Read", "arguments": {"file_path": "new"}}]},
        {"calls": [write]},
        {"text": "done"},
        models={"m1": [{"calls": [write]}, {"text": "a"}]},
    )
    events = await scene.play(answer=lambda _event: Approval(answer="session"))
    assert len(of_type(events, ApprovalAsked)) == 1
    assert finish(events).text == "done"


class Nothing(ToolParams):
    """No parameters."""


async def _deploy(_params: Nothing, _context: ToolContext) -> ToolResult:
    return ToolResult(llm_content="deployed")


DEPLOY = Tool(
    name="Deploy",
    kind=ToolKind.READONLY,
    params=Nothing,
    run=_deploy,
    description=Description(short="Deploys."),
    role="release",
)


async def test_a_tool_that_requires_a_role_is_only_for_profiles_that_have_it(
    make_session: SceneMaker,
) -> None:
    give(make_session, {"one": profile("m1"), "boss": profile("m2", "role: release")})
    deploy = {"calls": [{"name": "Deploy", "arguments": {}}]}
    make_session.write({".agent/agents/sly.md": "---\nrole: release\n---\n"})
    scene = make_session(
        {"calls": [task("t1", "one"), task("t2", "boss"), *deploy["calls"]]},
        {"text": "done"},
        models={"m1": [deploy, {"text": "no"}], "m2": [deploy, {"text": "yes"}]},
        extra=(DEPLOY,),
    )
    events = await scene.play()
    ends = [e for e in of_type(events, ToolFinished) if e.tool == "Deploy"]
    assert sorted(text_of(e.result.llm_content)[:40] for e in ends) == [
        "The tool 'Deploy' is not available here.",
        "The tool 'Deploy' is not available here.",
        "deployed",
    ]
    assert offered(scene, "m2") - offered(scene, "m1") == {"Deploy"}
    scene.session.use_profile("sly")
    assert "Deploy" not in {tool.name for tool in scene.session.tools}
    scene.session.use_profile("boss")
    assert "Deploy" in {tool.name for tool in scene.session.tools}


async def test_nobody_to_ask_is_told_to_the_agent_and_counted(make_session: SceneMaker) -> None:
    give(make_session, {"one": profile("m1")})
    scene = make_session(
        {"calls": [task("t", "one")]},
        {"text": "done"},
        models={"m1": [bash("touch x"), {"text": "could not"}]},
        attended=False,
    )
    events = await scene.play()
    assert finish(events).denials == 1
    replied = [m for m in scene.session.messages if isinstance(m, ToolMessage)]
    assert [report(m.content) for m in replied] == ["could not"]
