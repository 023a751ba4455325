"""Hooks: commands and functions, through real sessions, friendly and hostile."""

import json
from pathlib import Path
from typing import Any

import pytest

from agent_cli.commands.extensions import describe_hook
from agent_cli.config.layers import load
from agent_cli.core.deciding.trust_items import what_trust_enables
from agent_cli.core.events import ApprovalAsked, Notice
from agent_cli.core.inbox import Approval
from agent_cli.core.tool import ToolResult
from agent_cli.extension_setup import hooks_of
from tests.kit.extensions import extended
from tests.kit.sessions import Scene, SceneMaker, finish, of_type, results
from tests.kit.shells import until


def bash(command: str) -> dict[str, Any]:
    return {"calls": [{"name": "Bash", "arguments": {"command": command}}]}


def hook(command: str, on: str = "before_tool", **more: Any) -> dict[str, Any]:
    return {"on": on, "command": command, **more}


def saying(**answer: Any) -> dict[str, Any]:
    """A hook before the shell that answers this."""
    return hook(f"cat >/dev/null; echo '{json.dumps(answer)}'", tools=["Bash"])


def first(events: list[Any]) -> ToolResult:
    return results(events)["call-1"].result


def made(scene: Scene, name: str) -> bool:
    return (scene.workspace / name).exists()


@pytest.mark.parametrize(
    "refusing",
    [
        saying(decision="deny", reason="not on my watch"),
        hook("echo not on my watch >&2; exit 2"),
    ],
)
async def test_a_hook_can_refuse_a_call_even_in_yolo_mode(
    make_session: SceneMaker, refusing: dict[str, Any]
) -> None:
    settings = {"mode": "yolo", "hooks": [refusing]}
    scene = make_session(bash("touch made"), {"text": "."}, settings=settings)
    events = await scene.play("go")
    assert "not on my watch" in str(first(events).llm_content)
    assert not made(scene, "made")


async def test_saying_allow_changes_nothing(make_session: SceneMaker) -> None:
    allow = saying(decision="allow", permissionDecision="allow", reason="trust me")
    settings = {"hooks": [allow], "permissions": {"deny": ["Bash(touch *)"]}}
    scene = make_session(bash("touch made"), bash("mkdir other"), {"text": "."}, settings=settings)
    events = await scene.play("go", lambda _: Approval(answer="no"))
    (asked,) = of_type(events, ApprovalAsked)
    assert asked.request.targets == ("mkdir other",)
    assert not any(done.result.success for done in results(events).values())
    assert not made(scene, "made")
    assert not made(scene, "other")


async def test_a_hook_can_have_the_person_asked(make_session: SceneMaker) -> None:
    settings = {"mode": "yolo", "hooks": [saying(decision="ask", reason="look twice")]}
    scene = make_session(bash("touch a"), bash("touch b"), {"text": "."}, settings=settings)
    events = await scene.play("go", lambda _: Approval(answer="session"))
    asked = of_type(events, ApprovalAsked)
    assert len(asked) == 2, "a rule that was learnt does not silence the hook"
    assert "look twice" in str(asked[0].request.reasons[-1])
    assert made(scene, "a")
    scene = make_session(bash("touch c"), {"text": "."}, settings=settings, attended=False)
    assert finish(await scene.play("go")).denials == 1
    assert not made(scene, "c")


async def test_rewritten_arguments_are_decided_about_anew(make_session: SceneMaker) -> None:
    settings = {
        "hooks": [saying(arguments={"command": "touch evil"})],
        "permissions": {"allow": ["Bash(true)"], "deny": ["Bash(touch evil)"]},
    }
    scene = make_session(bash("true"), {"text": "."}, settings=settings)
    events = await scene.play("go")
    assert "is not permitted" in str(first(events).llm_content)
    assert not made(scene, "evil")

    settings = {"mode": "yolo", "hooks": [saying(arguments={"command": "touch good"})]}
    scene = make_session(bash("touch bad"), {"text": "."}, settings=settings)
    events = await scene.play("go")
    assert made(scene, "good")
    assert not made(scene, "bad")
    assert "a hook changed the arguments to" in str(first(events).llm_content)
    (log,) = scene.home.rglob("audit.jsonl")
    assert "touch good" in log.read_text().splitlines()[-1]

    settings = {"mode": "yolo", "hooks": [saying(arguments={"command": ""})]}
    scene = make_session(bash("touch bad"), {"text": "."}, settings=settings)
    assert "made the arguments invalid" in str(first(await scene.play("go")).llm_content)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("exit 1", "exit code 1"),
        ("sleep 600", "it took longer than 0.3 s"),
        ("echo '{nonsense'", "its output isn't JSON"),
        ("""echo '{"decision": "maybe"}'""", "neither deny nor ask"),
        ("cat /dev/zero", "it printed more than 1,000,000 bytes"),
    ],
)
async def test_a_hook_that_fails_vouches_for_nothing(
    make_session: SceneMaker, command: str, why: str
) -> None:
    timeout = 0.3 if "sleep" in command else 60
    settings = {"mode": "yolo", "hooks": [hook(command, timeout=timeout)]}
    scene = make_session(bash("touch made"), {"text": "."}, settings=settings)
    events = await scene.play("go", lambda _: Approval(answer="no"))
    (asked,) = of_type(events, ApprovalAsked)
    assert why in " ".join(map(str, asked.request.reasons))
    assert not made(scene, "made")


async def test_everything_else_is_told_in_order_with_a_scrubbed_environment(
    make_session: SceneMaker, tmp_path: Path
) -> None:
    told = tmp_path / "told"
    keep = f'cat >>{told}; echo >>{told}; echo "$ANTHROPIC_API_KEY$HOME" >{tmp_path}/environment'
    moments = ("session_start", "prompt", "after_tool", "approval", "turn_end", "session_end")
    settings = {"hooks": [hook(keep, on=moment) for moment in moments]}
    secret = {"ANTHROPIC_API_KEY": "sk-ant-REDACTED"}
    scene = make_session(
        bash("touch made"), {"text": "Done."}, settings=settings, environment=secret
    )
    world = await extended(scene)
    await scene.play("go", lambda _: Approval(answer="once"))
    await until(lambda: "turn_end" in told.read_text())
    await scene.session.close()
    lines = [json.loads(line) for line in told.read_text().splitlines() if line]
    assert [line["event"] for line in lines] == [
        "session_start", "prompt", "approval", "after_tool", "turn_end", "session_end"
    ]  # fmt: skip
    assert lines[1]["prompt"] == "go"
    assert (lines[3]["tool"], lines[3]["arguments"]) == ("Bash", {"command": "touch made"})
    assert lines[3]["success"] is True
    assert lines[4]["text"] == "Done."
    assert (tmp_path / "environment").read_text().strip() == str(scene.home)
    assert not world.notices


async def test_one_that_fails_on_the_side_is_told_and_holds_nothing_up(
    make_session: SceneMaker,
) -> None:
    settings = {"hooks": [hook("echo broken >&2; exit 3", on="turn_end")]}
    scene = make_session({"text": "."}, settings=settings)
    world = await extended(scene)
    assert finish(await scene.play("go")).reason == "done"
    await until(lambda: any(isinstance(event, Notice) for event in world.told))
    assert "failed (exit code 3: broken)" in world.notices


PLUGIN = """
from agent_cli.extensions.api import Hook

def look(facts):
    if "secret" in facts["arguments"]["command"]:
        return {"decision": "deny", "reason": "no secrets"}
    if "crash" in facts["arguments"]["command"]:
        raise SystemExit
    return {"decision": "allow"}

LOOK = Hook(on="before_tool", run=look, tools=("Ba*",))
"""


async def test_a_plugin_brings_functions_that_leave_with_it(make_session: SceneMaker) -> None:
    tools = make_session.home / ".config" / "agent" / "tools"
    tools.mkdir(parents=True)
    (tools / "looking.py").write_text(PLUGIN)
    scene = make_session(
        bash("echo secret"), bash("echo crash"), bash("touch made"), {"text": "."},
        bash("echo secret"), {"text": "."},
    )  # fmt: skip
    world = await extended(scene)
    (found,) = hooks_of(scene.session)
    assert describe_hook(found) == "- **before_tool** (Ba*): from looking, timeout 10 s"
    events = await scene.play("go", lambda _: Approval(answer="no"))
    assert "no secrets" in str(first(events).llm_content)
    asked = of_type(events, ApprovalAsked)
    assert [event.request.targets for event in asked] == [("echo crash",), ("touch made",)]
    (tools / "looking.py").unlink()
    await world.host.reload()
    assert hooks_of(scene.session) == ()
    events = await scene.play("again")
    assert results(events)["call-4"].result.success


def test_a_projects_hooks_are_added_only_where_it_is_trusted(tmp_path: Path) -> None:
    user, project = tmp_path / "user.toml", tmp_path / "project" / ".agent" / "config.toml"
    project.parent.mkdir(parents=True)
    user.write_text('[[hooks]]\non = "turn_end"\ncommand = "mine"\n')
    project.write_text(f'x = "{"y" * 2_000}"\n[[hooks]]\non = "turn_end"\ncommand = "theirs"\n')

    def commands(project_file: Path | None) -> list[str]:
        loaded = load(user_file=user, project_file=project_file, environment={}, flags={})
        return [each.command for each in loaded.settings.hooks]

    assert commands(None) == ["mine"]
    assert commands(project) == ["mine", "theirs"]
    (item,) = what_trust_enables(project.parent.parent)
    assert '"command": "theirs"' in item.detail, "however much stands before it"
