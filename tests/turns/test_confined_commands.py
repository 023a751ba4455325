"""Every command that nobody agreed to is confined, in every mode and by every sandbox."""

import json
from typing import Any

import pytest

from agent_cli.core.events import ApprovalAsked
from agent_cli.core.inbox import Approval
from agent_cli.core.messages import text_of
from agent_cli.safety.sandbox import SandboxUnavailable, find_sandbox
from tests.kit.lacking import no_bubblewrap
from tests.kit.sessions import Scene, SceneMaker, results
from tests.kit.trees import git, repository

MODES = ["default", "accept-edits", "plan", "auto"]
SECRET = "s3ntinel-value-of-a-secret"


@pytest.fixture(params=["landlock", "bwrap"])
async def tier(request: pytest.FixtureRequest) -> str:
    try:
        await find_sandbox(request.param)
    except SandboxUnavailable as problem:
        no_bubblewrap(problem.message) if request.param == "bwrap" else pytest.skip(problem.message)
    return str(request.param)


def bash(*commands: str) -> list[dict[str, Any]]:
    calls = [{"calls": [{"name": "Bash", "arguments": {"command": each}}]} for each in commands]
    return [*calls, {"text": "ok"}]


async def play(scene: Scene, approved: str = "nothing") -> list[str]:
    """What the model was told about each call; only what holds a text is agreed to."""

    def reply(event: ApprovalAsked) -> Approval:
        return Approval(answer="once" if approved in event.request.title else "no")

    events = await scene.play(answer=reply)
    return [text_of(each.result.llm_content) for each in results(events).values()]


def sandboxes(scene: Scene) -> list[str]:
    log = scene.home / ".local/state/agent/audit.jsonl"
    return [json.loads(line)["sandbox"] for line in log.read_text().splitlines()]


@pytest.mark.parametrize("mode", MODES)
async def test_a_proven_command_runs_read_only_and_reads_no_secret(
    make_session: SceneMaker, tier: str, mode: str
) -> None:
    files = {".env": f"TOKEN={SECRET}\n", "deep/er/server.key": SECRET, "a.txt": "hello\n"}
    commands = bash("grep -rh . . | rev", "cat a.txt", "ls -a")
    scene = make_session(*commands, files=files, settings={"mode": mode, "sandbox": tier})
    searched, read, listed = await play(scene)
    assert "olleh" in searched
    assert SECRET[::-1] not in searched
    assert ".env" in searched
    assert "deep/er/server.key" in searched
    assert read == "hello"
    assert ".env" in listed
    assert sandboxes(scene) == [f"read-only/{tier}"] * 3


@pytest.mark.parametrize("mode", MODES)
async def test_what_git_is_made_to_run_does_no_harm(
    make_session: SceneMaker, tier: str, mode: str
) -> None:
    marker = make_session.home / "marker"
    helper = f'"echo x > {marker}; echo x > {make_session.workspace}/marker; false"'
    settings = f"[core]\n\trepositoryformatversion = 1\n\tfsmonitor = {helper}\n[extensions]\n\tworktreeConfig = true\n"  # fmt: skip
    files = {
        "evil/HEAD": "ref: refs/heads/main\n",
        "evil/commondir": "c\n",
        "evil/config.worktree": "[core]\n\tbare = false\n\tworktree = ..\n",
        "evil/c/objects/keep": "",
        "evil/c/refs/keep": "",
        "evil/c/config": settings,
    }
    commands = bash("cd evil && env -i git status", "cd evil && git status", "git diff")
    scene = make_session(*commands, files=files, settings={"mode": mode, "sandbox": tier})
    await play(scene)
    assert not marker.exists()
    if mode != "auto":  # where commands that are not proven may change the workspace
        assert not (scene.workspace / "marker").exists()


HIJACKED = ["return", "builtin", "command", "printf", "declare", "set", "trap", "exit", "eval", "."]


@pytest.mark.parametrize("name", HIJACKED)
async def test_a_function_of_a_confined_command_never_runs_outside(
    make_session: SceneMaker, name: str
) -> None:
    marker = make_session.home / "marker"
    harm = f"sh {make_session.workspace}/harm.sh"
    commands = bash(f"{name}() {{ {harm}; }}", "ls", "uname -a; id -u", "ls")
    allow = {"permissions": {"allow": ["Bash(uname *)", "Bash(id *)"]}}
    files = {"harm.sh": f"echo x > {marker}"}
    scene = make_session(*commands, files=files, settings={"mode": "auto", **allow})
    await play(scene)
    assert not marker.exists()


async def test_traps_options_and_aliases_of_a_confined_command_stay_confined(
    make_session: SceneMaker,
) -> None:
    marker = make_session.home / "marker"
    harm = f"sh {make_session.workspace}/harm.sh"
    confined = [
        f"trap '{harm}' EXIT DEBUG RETURN ERR",
        f"PROMPT_COMMAND='{harm}'; BASH_ENV={marker}; PS4='$({harm})'; set -x",
        f"alias uname='{harm}'; shopt -s expand_aliases; set -o posix; enable -n printf",
        f"exec() {{ {harm}; }}; export -f exec; PATH=$PWD/bin:$PATH",
        f"command_not_found_handle() {{ {harm}; }}",
    ]
    last = "rm -f /nowhere; uname -s"  # dangerous, so somebody agrees to it
    files = {"harm.sh": f"echo x > {marker}"}
    scene = make_session(*bash(*confined, last), files=files, settings={"mode": "auto"})
    told = await play(scene, "rm -f")
    assert told[-1] == "Linux"
    *before, after = sandboxes(scene)
    assert before.count("none") == 0
    assert after == "none"
    assert not marker.exists()


async def test_directory_and_plain_variables_are_shared_and_functions_are_not(
    make_session: SceneMaker,
) -> None:
    confined = "cd sub; NAME=value; export OTHER=more; f() { echo called; }"
    shown = 'pwd; echo "$NAME $OTHER"; type -t f || echo none'
    commands = bash(confined, f"{shown}; f", f"rm -f /nowhere; {shown}")
    scene = make_session(*commands, files={"sub/x": ""}, settings={"mode": "auto"})
    _, inside, outside = await play(scene, "rm -f")
    sub = f"{scene.workspace.resolve()}/sub"
    assert inside == f"{sub}\nvalue more\nfunction\ncalled"
    assert outside == f"{sub}\nvalue more\nnone"


async def test_an_approved_command_is_confined_if_that_is_wanted(
    make_session: SceneMaker, tier: str
) -> None:
    target = make_session.home / "outside"
    command = f"touch made; touch {target}"
    for wanted, made in ((True, False), (False, True)):
        settings = {"sandbox": tier, "sandbox_approved": wanted}
        scene = make_session(*bash(command), settings=settings)
        answers = iter(("once", "no"))  # yes to the command, no to running it again outside
        asked: list[ApprovalAsked] = []

        def reply(event: ApprovalAsked, answers: Any = answers, asked: Any = asked) -> Approval:
            asked.append(event)
            return Approval(answer=next(answers))

        await scene.play(answer=reply)
        assert target.exists() is made
        assert (scene.workspace / "made").exists()
        assert sandboxes(scene)[-1] == (f"workspace/{tier}" if wanted else "none")
        assert (asked[0].request.sandbox == "none") is not wanted
        await scene.session.close()


async def test_without_a_sandbox_the_proof_is_enough_and_the_question_says_so(
    make_session: SceneMaker,
) -> None:
    commands = bash("cat a.txt", "touch made")
    scene = make_session(*commands, files={"a.txt": "hello\n"}, settings={"sandbox": "off"})
    asked: list[ApprovalAsked] = []

    def reply(event: ApprovalAsked) -> Approval:
        asked.append(event)
        return Approval()

    events = await scene.play(answer=reply)
    assert text_of(next(iter(results(events).values())).result.llm_content) == "hello"
    assert [each.request.sandbox for each in asked] == ["missing"]
    assert sandboxes(scene) == ["none", ""]


async def test_git_works_as_usual_where_its_data_are_elsewhere(
    make_session: SceneMaker, tier: str
) -> None:
    """A linked worktree has its data in another repository."""
    main = make_session.home / "main"
    repository(main, {"a.txt": "hello\n"})
    make_session.workspace.rmdir()
    git(main, "worktree", "add", "-q", str(make_session.workspace))
    (make_session.workspace / "a.txt").write_text("changed\n")
    scene = make_session(
        *bash("git status --short", "git log --oneline"), settings={"sandbox": tier}
    )
    status, log = await play(scene)
    assert status == " M a.txt"
    assert log.endswith("first")


async def test_a_command_can_be_approved_for_the_sandbox(
    make_session: SceneMaker, tier: str
) -> None:
    target = make_session.home / "outside"
    commands = bash(f"touch made; touch {target}", "curl http://127.0.0.1:9/")
    scene = make_session(*commands, settings={"sandbox": tier})
    asked: list[ApprovalAsked] = []

    def reply(event: ApprovalAsked) -> Approval:
        asked.append(event)
        return Approval(answer="confined")

    await scene.play(answer=reply)
    first, *others = (event.request.confinable for event in asked)
    assert first
    assert others.count(True) == 0
    assert (scene.workspace / "made").exists()
    assert not target.exists()  # to run it again outside cannot be answered with "confined"
    assert sandboxes(scene) == [f"workspace/{tier}", ""]


async def test_a_sandbox_that_is_named_and_missing_runs_nothing(
    make_session: SceneMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    settings = {"sandbox": "bwrap"}
    scene = make_session(*bash("cat a.txt"), files={"a.txt": "hello\n"}, settings=settings)
    (told,) = await play(scene)
    assert "hello" not in told
    assert "bubblewrap is not installed" in told
