"""What commands do to a repository's own files and to the bytes only git has, undone."""

import socket

import pytest

from agent_cli.core.events import Notice
from tests.kit.oracle import differences, inside_git, photograph
from tests.kit.places import ENVIRONMENT, git
from tests.kit.sessions import SceneMaker, of_type
from tests.turns.test_undo_loses_nothing import YOLO, bash, project, undo

WHO = {name: value for name, value in ENVIRONMENT.items() if name.startswith("GIT_")}
FORGET = (
    "git checkout -q --orphan new; git rm -rfq --cached .; git commit -q --allow-empty -m e; "
    "git update-ref -d refs/heads/old; git update-ref -d refs/heads/master; "
    "git update-ref -d refs/heads/main; git reflog expire --expire=now --all; git gc -q --prune=now"
)


@pytest.mark.parametrize(
    "command",
    [
        "rm .git/hooks/pre-commit",
        "echo '[core]' > .git/config",
        "sed -i s/bare/b2/ .git/config",
        "rm -rf .git/hooks",
        "mv .git/description .git/d2",
        "echo new > .git/info/new; rm .git/info/exclude",
        "cd .git && rm description config",
        "echo x >> nested/.git/config",
    ],
)
async def test_a_single_file_inside_git_that_a_command_names_comes_back(
    make_session: SceneMaker, command: str
) -> None:
    root = make_session.workspace
    project(root)
    hook = root / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\nmake test\n")
    hook.chmod(0o755)
    (root / "nested").mkdir()
    git(root / "nested", "init", "-q")
    scene = make_session(bash(command), {"text": "done"}, settings=YOLO)
    tree = photograph(root)
    before = inside_git(root), inside_git(root / "nested")
    await scene.play()
    after = inside_git(root), inside_git(root / "nested")
    assert after != before
    await undo(scene)
    assert (inside_git(root), inside_git(root / "nested")) == before
    assert differences(tree, photograph(root)) == {}
    await scene.session.undoing.apply(await scene.session.undoing.preview_redo())
    assert (inside_git(root), inside_git(root / "nested")) == after


async def test_files_come_back_when_the_way_to_the_repository_went_before(
    make_session: SceneMaker,
) -> None:
    root = make_session.workspace
    project(root)
    real = root.parent / "real"
    (root / ".git").rename(real)
    (root / ".git").write_text(f"gitdir: {real}\n")
    steps = [bash("rm .git"), {"text": "done"}, bash("rm -rf src"), {"text": "done"}]
    scene = make_session(*steps, settings=YOLO)
    before = photograph(root)
    await scene.play()
    await scene.play()
    await undo(scene)
    await undo(scene)
    assert differences(before, photograph(root)) == {}


async def test_bytes_that_git_lets_go_of_are_kept_before_the_next_call(
    make_session: SceneMaker,
) -> None:
    root = make_session.workspace
    project(root)
    (root.parent / "forget.sh").write_text(FORGET)
    steps = [bash("sh ../forget.sh"), {"text": "done"}, bash("find src -delete"), {"text": "done"}]
    scene = make_session(*steps, settings=YOLO, environment=WHO)
    before = photograph(root)
    await scene.play()
    assert differences(before, photograph(root)) == {}
    await scene.play()
    assert not (root / "src").exists()
    await undo(scene)
    assert differences(before, photograph(root)) == {}


@pytest.mark.parametrize("prune", ["gc -q", "-c gc.auto=0 prune", "repack -qad"])
async def test_bytes_that_git_is_told_to_let_go_of_are_kept_before(
    make_session: SceneMaker, prune: str
) -> None:
    root = make_session.workspace
    project(root)
    command = f"{FORGET.replace('gc -q', prune, 1)}; rm -rf src"
    scene = make_session(bash(command), {"text": "done"}, settings=YOLO, environment=WHO)
    before = photograph(root)
    await scene.play()
    assert not (root / "src").exists()
    await undo(scene)
    assert differences(before, photograph(root)) == {}


async def test_bytes_that_a_script_made_git_let_go_of_are_said_to_be_lost(
    make_session: SceneMaker,
) -> None:
    root = make_session.workspace
    project(root)
    (root.parent / "forget.sh").write_text(f"{FORGET}; rm -rf src notes.txt")
    scene = make_session(bash("sh ../forget.sh"), {"text": "done"}, settings=YOLO, environment=WHO)
    await scene.play()
    preview = await scene.session.undoing.preview()
    lost = {each.path: each.why for each in preview.files if each.outcome == "lost"}
    assert lost[f"{root}/src/one.py"] == "git does not have it any more"
    await scene.session.undoing.apply(preview)
    assert (root / "notes.txt").read_text() == "uncommitted\n"


async def test_a_socket_that_a_command_removes_is_said_to_be_lost(
    make_session: SceneMaker,
) -> None:
    root = make_session.workspace
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(root / "s"))
    scene = make_session(bash("rm s"), {"text": "done"}, settings=YOLO)
    notices = of_type(await scene.play(), Notice)
    assert any("s cannot be restored by undo: it is a socket" in each.text for each in notices)
    (planned,) = (await scene.session.undoing.preview()).files
    assert (planned.outcome, planned.why) == ("lost", "it is a socket or a device")
