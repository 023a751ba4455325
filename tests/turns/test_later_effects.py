"""What makes something run later: a confined command cannot change it unless somebody agrees."""

import subprocess
import time
from typing import Any

import pytest

from agent_cli.core.display import DiffBlock
from agent_cli.core.events import ApprovalAsked
from agent_cli.core.inbox import Approval
from agent_cli.core.messages import text_of
from agent_cli.safety.sandbox import SandboxUnavailable, find_sandbox
from tests.kit.oracle import Photo, photograph
from tests.kit.sessions import Scene, SceneMaker, results
from tests.kit.shells import until
from tests.kit.trees import git, repository

FILES = {
    "a.txt": "hello\n",
    "AGENTS.md": "Be kind.\n",
    ".vscode/tasks.json": "{}\n",
    ".envrc": "export A=1\n",
    "deep/AGENTS.md": "Deep.\n",
    "deep/code.py": "x = 1\n",
}

# Nothing in these looks like what it does: the analysis of the command is not asked here.
CHANGES = {
    "a hook": "open('.git/hooks/pre-commit', 'w').write('#!/bin/sh')",
    "an executable hook": "open('.git/hooks/x', 'w').write('x'); os.chmod('.git/hooks/x', 0o755)",
    "git's settings": "open('.git/config', 'a').write('[core]\\n\\tfsmonitor = ./x\\n')",
    "git's attributes": "os.makedirs('.git/info', exist_ok=True); open('.git/info/attributes', 'w').write('* filter=x')",
    "git's settings elsewhere": "open('.git/commondir', 'w').write('../evil')",
    "settings of a worktree": "open('.git/config.worktree', 'w').write('[core]')",
    "a linked directory of hooks": "os.rename('.git/hooks', '.git/old'); os.mkdir('evil'); os.symlink('../evil', '.git/hooks')",
    "git's directory replaced": "os.rename('.git', 'old'); os.makedirs('.git/hooks'); open('.git/config', 'w').write('[core]')",
    "git's directory moved further down": "os.makedirs('other/deep'); os.rename('.git', 'other/deep/x')",
    "git's directory moved out": "import shutil; os.rename('.git', os.environ['TMPDIR'] + '/x')",
    "git's directory linked": "os.rename('.git', 'old'); os.symlink('old', '.git')",
    "instructions": "open('AGENTS.md', 'a').write('Be evil.')",
    "instructions removed": "os.remove('AGENTS.md')",
    "instructions linked": "os.remove('AGENTS.md'); os.symlink('a.txt', 'AGENTS.md')",
    "instructions moved in": "open('new', 'w').write('x'); os.rename('new', 'AGENTS.md')",
    "instructions further down": "open('deep/AGENTS.md', 'a').write('Be evil.')",
    "new instructions further down": "os.makedirs('other'); open('other/CLAUDE.md', 'w').write('x')",
    "with the same size and time": "s=os.stat('AGENTS.md'); open('AGENTS.md', 'w').write('Be evil\\n'); os.utime('AGENTS.md', ns=(s.st_atime_ns, s.st_mtime_ns))",
    "with the directory's time set back": "s=os.stat('deep'); open('deep/.envrc', 'w').write('x'); os.utime('deep', ns=(s.st_atime_ns, s.st_mtime_ns))",
    "editor tasks": "open('.vscode/tasks.json', 'w').write('[1]')",
    "new editor settings": "open('.vscode/settings.json', 'w').write('[1]')",
    "our own settings": "os.mkdir('.agent'); open('.agent/config.toml', 'w').write('x')",
    "servers": "open('.mcp.json', 'w').write('{}')",
    "direnv": "open('.envrc', 'w').write('evil')",
    "a workflow": "os.makedirs('.github/workflows'); open('.github/workflows/x.yml', 'w').write('x')",
    "husky": "os.mkdir('.husky'); open('.husky/pre-commit', 'w').write('x')",
}  # fmt: skip


@pytest.fixture(autouse=True)
async def _sandbox() -> None:
    try:
        await find_sandbox("landlock")
    except SandboxUnavailable as problem:
        pytest.skip(problem.message)


def make(make_session: SceneMaker, script: str, *, attended: bool = True, **more: Any) -> Scene:
    make_session.workspace.rmdir()
    repository(make_session.workspace, FILES)
    (make_session.workspace / "do.py").write_text(f"import os, time\n{script}\nopen('done', 'w')\n")
    steps = [{"calls": [{"name": "Bash", "arguments": {"command": "python3 do.py", **more}}]}]
    steps += [{"calls": [{"name": "Bash", "arguments": {"command": "cat a.txt"}}]}, {"text": "ok"}]
    settings = {"mode": "auto", "sandbox": "landlock"}
    return make_session(*steps, settings=settings, attended=attended)


def picture(scene: Scene) -> Photo:
    """All protected files; what the script itself leaves is no concern here."""
    found = photograph(scene.workspace, times=False)
    left = {"done", "evil", "new", "old", "other", ".github"}
    inside = photograph(scene.workspace / ".git", times=False)
    kept = {name: facts for name, facts in found.items() if not left & set(name.split("/"))}
    git_files = {
        f"git/{name}": facts
        for name, facts in inside.items()
        if name.split("/")[0] in ("config", "hooks", "commondir", "config.worktree", "info")
    }
    return {**kept, **git_files}


@pytest.mark.parametrize("change", CHANGES)
async def test_changes_are_undone_where_nobody_agrees(
    make_session: SceneMaker, change: str
) -> None:
    scene = make(make_session, CHANGES[change], attended=False)
    before = picture(scene)
    told = [text_of(each.result.llm_content) for each in results(await scene.play()).values()]
    assert (scene.workspace / "done").exists(), told
    assert picture(scene) == before
    assert "undone" in told[0]
    assert subprocess.run(["git", "status"], cwd=scene.workspace, capture_output=True).returncode == 0  # noqa: PLW1510  # fmt: skip


@pytest.mark.parametrize("answer", ["no", "once"])
async def test_they_are_asked_about_with_a_diff(make_session: SceneMaker, answer: Any) -> None:
    scene = make(make_session, f"{CHANGES['instructions']}; {CHANGES['a hook']}")
    asked: list[ApprovalAsked] = []
    seen: list[str] = []

    def reply(event: ApprovalAsked) -> Approval:
        asked.append(event)
        seen.append((scene.workspace / "AGENTS.md").read_text())  # while the question is open
        return Approval(answer=answer)

    await scene.play(answer=reply)
    (question,) = asked
    assert question.request.codes == ("changes_what_runs",)
    assert question.request.rule is None
    shown = question.request.preview
    assert isinstance(shown, DiffBlock)
    assert "+Be evil." in shown.diff
    assert "+#!/bin/sh" in shown.diff
    assert seen == ["Be kind.\n"]
    hook = scene.workspace / ".git/hooks/pre-commit"
    assert hook.exists() is (answer == "once")
    assert ("evil" in (scene.workspace / "AGENTS.md").read_text()) is (answer == "once")


@pytest.mark.parametrize("content", ["'x' * 200_000", "'a\\0b'"])
async def test_what_cannot_be_shown_whole_is_not_asked_about(
    make_session: SceneMaker, content: str
) -> None:
    scene = make(make_session, f"open('.envrc', 'w').write({content})")
    before = picture(scene)
    asked: list[ApprovalAsked] = []
    await scene.play(answer=lambda event: asked.append(event) or Approval(answer="once"))  # type: ignore[func-returns-value]
    assert asked == []
    assert picture(scene) == before


async def test_what_a_command_in_the_background_does_is_undone_too(
    make_session: SceneMaker,
) -> None:
    script = f"open('done', 'w'); time.sleep(0.3); {CHANGES['instructions']}; time.sleep(60)"
    scene = make(make_session, script, attended=False, run_in_background=True)
    before = picture(scene)
    await scene.play()
    instructions = scene.workspace / "AGENTS.md"
    await until(lambda: "evil" in instructions.read_text())
    await scene.session.close()
    assert picture(scene) == before


async def test_history_may_be_written_and_other_repositories_made(
    make_session: SceneMaker,
) -> None:
    script = "os.system('git -c user.name=a -c user.email=b commit -qam second && git init -q sub')"
    scene = make(make_session, script, attended=False)
    (scene.workspace / "a.txt").write_text("changed\n")
    await scene.play()
    assert (scene.workspace / "sub/.git/config").exists()
    assert "second" in git(scene.workspace, "log", "-1", "--format=%s")


async def test_a_background_command_cannot_use_the_time_of_the_question(
    make_session: SceneMaker,
) -> None:
    script = "\n".join(
        (
            "open('AGENTS.md', 'w').write('first')",
            "while open('AGENTS.md').read() == 'first': time.sleep(0.01)",
            "open('AGENTS.md', 'w').write('second')",
            "open('.envrc', 'w').write('second')",
            "open('done', 'w')",
            "time.sleep(60)",
        )
    )
    scene = make(make_session, script, run_in_background=True)
    before = picture(scene)
    marker = scene.workspace / "done"

    def reply(_: ApprovalAsked) -> Approval:
        deadline = time.monotonic() + 60
        while not marker.exists() and time.monotonic() < deadline:
            time.sleep(0.01)  # the question is open until the script has written again
        return Approval(answer="no")

    await scene.play(answer=reply)
    await scene.session.close()
    assert picture(scene) == before
