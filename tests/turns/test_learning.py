"""Rules offered with a question and learnt from the answer."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field

from agent_cli.core.events import ApprovalAnswered, ApprovalAsked, Notice
from agent_cli.core.inbox import Approval
from agent_cli.core.tool import Description, Target, Tool, ToolKind, ToolParams, ToolResult
from agent_cli.core.tool_context import ToolContext
from tests.kit.sessions import Scene, SceneMaker, of_type, results


def bash(command: str) -> dict[str, Any]:
    return {"calls": [{"name": "Bash", "arguments": {"command": command}}]}


class Params(ToolParams):
    file_path: str
    text: str = Field("")


async def write(params: Params, context: ToolContext) -> ToolResult:
    return ToolResult(llm_content="written")


WRITE = Tool(
    name="Write", kind=ToolKind.WRITE, params=Params, run=write,
    description=Description(short="Writes."),
    targets=lambda params: (Target("path", params.file_path, "write"),),
)  # fmt: skip


def with_write(scene: Scene) -> Scene:
    scene.session._parts.registry.register(WRITE)
    return scene


async def offered(make_session: SceneMaker, command: str, **how: Any) -> str | None:
    scene = make_session(bash(command), {"text": "ok"}, **how)
    events = await scene.play(answer=lambda _: Approval())
    (asked,) = of_type(events, ApprovalAsked)
    return asked.request.rule


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("npm run test -- --watch", "Bash(npm run test ./**)"),
        ("make build", "Bash(make build)"),
        ("frobnicate a", "Bash(frobnicate a)"),
        ("frobnicate a && frobnicate b | head -3", "Bash(frobnicate a), Bash(frobnicate b)"),
        ("cd . && npm test", "Bash(npm test ./**)"),
        ("frobnicate a && rm x", None),
        ("git push --force", None),
        ("rm -r build", None),
        ("sudo make install", None),
        ("python x.py", None),
        ("bash -c 'make build'", None),
        ("env A=1 make build", None),
        ("curl http://x", None),
        ("find . -exec rm {} +", None),
        ("make build && make test", "Bash(make build), Bash(make test)"),
        ("make $TARGET", None),
        ("make build > log", None),
        ("frobnicate .git/config", None),
    ],
)
async def test_the_narrowest_useful_rule_is_offered(
    command: str, rule: str | None, make_session: SceneMaker
) -> None:
    assert await offered(make_session, command) == rule


async def test_no_rule_is_offered_where_it_would_not_help(make_session: SceneMaker) -> None:
    asks = {"permissions": {"ask": ["Bash(make *)"]}}
    assert await offered(make_session, "make build", settings=asks) is None
    assert await offered(make_session, "make build", trust=False) is None


async def test_an_answer_for_the_session_holds_for_the_session(make_session: SceneMaker) -> None:
    scene = make_session(bash("make a"), bash("make a"), bash("make b"), {"text": "ok"})
    events = await scene.play(answer=lambda _: Approval(answer="session"))
    assert len(of_type(events, ApprovalAsked)) == 2
    again = make_session(bash("make a"), {"text": "ok"})
    events = await again.play(answer=lambda _: Approval())
    assert len(of_type(events, ApprovalAsked)) == 1


async def test_an_answer_for_the_project_holds_in_the_next_session(
    make_session: SceneMaker,
) -> None:
    scene = make_session(bash("make a"), {"text": "ok"})
    await scene.play(answer=lambda _: Approval(answer="project"))
    again = make_session(bash("make a"), {"text": "ok"})
    assert not of_type(await again.play(), ApprovalAsked)
    assert not [path for path in scene.workspace.rglob("*") if "make" in path.name]
    (kept,) = (scene.home / ".local" / "state" / "agent" / "rules").iterdir()
    assert json.loads(kept.read_text())["workspace"] == str(scene.workspace)


async def test_learnt_rules_do_not_count_in_a_folder_that_is_not_trusted(
    make_session: SceneMaker,
) -> None:
    scene = make_session(bash("make a"), {"text": "ok"})
    await scene.play(answer=lambda _: Approval(answer="project"))
    again = make_session(bash("make a"), {"text": "ok"}, trust=False, attended=False)
    events = await again.play()
    assert [each.result.success for each in results(events).values()] == [False]


async def test_a_rule_that_cannot_be_kept_holds_for_the_session_and_says_so(
    make_session: SceneMaker,
) -> None:
    state = make_session.home / ".local" / "state" / "agent"
    state.mkdir(parents=True)
    (state / "rules").write_text("in the way")
    scene = make_session(bash("make a"), bash("make a"), {"text": "ok"})
    events = await scene.play(answer=lambda _: Approval(answer="project"))
    assert len(of_type(events, ApprovalAsked)) == 1
    assert any("couldn't be saved" in notice.text for notice in of_type(events, Notice))


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("docs/a.md", "Edit(docs/a.md)"),
        ("docs/../b (1).md", "Edit(b (1).md)"),
        ("~x", "Edit(./~x)"),
        ("a*.md", None),
        (".git/config", None),
        ("AGENTS.md", None),
    ],
)
async def test_for_a_file_the_exact_file_is_offered(
    path: str, rule: str | None, make_session: SceneMaker
) -> None:
    call = {"calls": [{"name": "Write", "arguments": {"file_path": path}}]}
    scene = with_write(make_session(call, call, {"text": "ok"}))
    events = await scene.play(answer=lambda _: Approval(answer="session"))
    asked = of_type(events, ApprovalAsked)
    assert asked[0].request.rule == rule
    assert len(asked) == (1 if rule else 2)


async def test_a_tool_may_know_its_own_rule(make_session: SceneMaker) -> None:
    own = WRITE.with_changes(rule=lambda params: f"Edit({Path(params.file_path).parent}/**)")
    call = {"calls": [{"name": "Write", "arguments": {"file_path": "docs/a.md"}}]}
    scene = make_session(call, {"text": "ok"})
    scene.session._parts.registry.register(own)
    events = await scene.play(answer=lambda _: Approval())
    assert of_type(events, ApprovalAsked)[0].request.rule == "Edit(docs/**)"


async def test_a_rule_does_not_let_through_what_a_changed_shell_makes_of_a_name(
    make_session: SceneMaker,
) -> None:
    rules = {"permissions": {"allow": ["Bash(make *)"]}}
    poison = "make() { touch poisoned; }"
    scene = make_session(
        bash("make a"), bash(poison), bash("make a"), {"text": "ok"}, settings=rules
    )
    asked: list[str] = []

    def answer(event: ApprovalAsked) -> Approval:
        asked.append(event.request.title)
        return Approval(answer="once" if event.request.title == poison else "no")

    await scene.play(answer=answer)
    assert asked == [poison, "make a"]
    assert not (scene.workspace / "poisoned").exists()


@pytest.mark.parametrize("answer", ["session", "project", "once"])
async def test_always_settles_the_other_open_questions_that_the_rule_covers(
    make_session: SceneMaker, answer: Any
) -> None:
    beside = WRITE.with_changes(
        is_concurrency_safe=True,
        rule=lambda params: f"Edit({Path(params.file_path).parent}/**)",
    )
    paths = {"c1": "docs/a.md", "c2": "docs/b.md", "c3": "other/c.md"}
    wanted = [
        {"id": id, "name": "Write", "arguments": {"file_path": path}} for id, path in paths.items()
    ]
    scene = make_session({"calls": wanted}, {"text": "ok"})
    scene.session._parts.registry.register(beside)
    waiting: list[str] = []

    def reply(event: ApprovalAsked) -> None:
        waiting.append(event.request.id)
        if len(waiting) == 3:  # all are open: answer the first, and what is still open then later
            scene.session.reply(waiting[0], Approval(answer=answer))
            asyncio.get_running_loop().call_later(0.5, refuse_the_rest)

    def refuse_the_rest() -> None:
        for request in scene.session.waiting:
            scene.session.reply(request.id, Approval(answer="no"))

    events = await scene.play(answer=reply)
    answers = {e.call_id: e.answer for e in of_type(events, ApprovalAnswered)}
    others = "no" if answer == "once" else "once"
    assert answers == {"c1": answer, "c2": others, "c3": "no"}
    assert results(events)["c2"].result.success is (others == "once")


async def test_a_line_of_several_commands_teaches_a_rule_for_each(
    make_session: SceneMaker,
) -> None:
    line = "frobnicate a; frobnicate b"
    scene = make_session(
        bash(line), bash("frobnicate b"), bash(f"{line}; frobnicate c"), {"text": "ok"}
    )
    asked: list[ApprovalAsked] = []

    def answer(event: ApprovalAsked) -> Approval:
        asked.append(event)
        return Approval(answer="session" if len(asked) == 1 else "no")

    await scene.play(answer=answer)
    assert [event.request.title for event in asked] == [line, f"{line}; frobnicate c"]


async def test_a_rule_learnt_from_a_check_lets_no_other_option_through(
    make_session: SceneMaker, tmp_path: Path
) -> None:
    """What "always" for a harmless call of a formatter must not open."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "prettier").write_text(f'#!/bin/sh\necho "$*" >> {tmp_path}/ran\n')
    (tools / "prettier").chmod(0o755)
    others = [
        "prettier --write .", "prettier --plugin=/tmp/x.js .", "prettier --check --plugin x .",
        "prettier --check /etc/passwd", "prettier --check ../x", "prettier .",
        "prettier --check --config=/tmp/x .", "prettier --check .git/config",
    ]  # fmt: skip
    calls = ["prettier --check .", *others, "prettier --check src docs/a.md"]
    scene = make_session(
        *(step for command in calls for step in (bash(command), {"text": "ok"})),
        environment={"PATH": f"{tools}:/usr/bin:/bin"},
    )
    asked: list[str] = []

    def answer(event: ApprovalAsked) -> Approval:
        asked.append(event.request.title)
        return Approval(answer="session" if len(asked) == 1 else "no")

    for _ in calls:
        await scene.play(answer=answer)
    assert asked == ["prettier --check .", *others]
    assert (tmp_path / "ran").read_text() == "--check .\n--check src docs/a.md\n"
