"""Undo, redo and receipts, through real sessions."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from agent_cli.core.errors import UserError
from agent_cli.core.events import ApprovalAsked, Notice, ToolStarted
from agent_cli.core.inbox import Approval
from agent_cli.core.messages import UserMessage
from agent_cli.core.undo.checkpoint import RestoreOutcome
from agent_cli.core.undo.undo_plan import Choice, Preview
from agent_cli.launch_options import Resume
from tests.kit.places import KINDS, furnish, git, git_picture, picture
from tests.kit.sessions import Scene, SceneMaker, finish, of_type, results
from tests.kit.shells import until

YOLO = {"mode": "yolo"}


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [{"name": tool, "arguments": arguments}]}


def bash(command: str) -> dict[str, Any]:
    return call("Bash", command=command)


def yes(_asked: ApprovalAsked) -> Approval:
    return Approval(answer="once")


async def undo(
    scene: Scene, scope: str = "turn", choices: dict[str, Choice] | None = None
) -> tuple[Preview, RestoreOutcome]:
    preview = await scene.session.undoing.preview(scope)
    return preview, await scene.session.undoing.apply(preview, choices)


async def redo(scene: Scene) -> None:
    await scene.session.undoing.apply(await scene.session.undoing.preview_redo())


COMMANDS: dict[str, Sequence[dict[str, Any]]] = {
    "Write": [call("Read", file_path="src/one.py"),
              call("Write", file_path="src/one.py", content="new\n"),
              call("Write", file_path="a/b/c.txt", content="made\n")],
    "Edit": [call("Read", file_path="crlf.txt"),
             call("Edit", file_path="crlf.txt", old_string="a", new_string="A")],
    "rm -rf": [bash("rm -rf build src/*.py")],
    "mv": [bash("mv src source && mv binary.dat build/")],
    "sed -i": [bash("sed -i s/one/ONE/ src/*.py && chmod 700 private.txt")],
    "a script": [bash("mkdir -p gen/{0..6}; for i in {1..1000}; do echo $i > gen/$((i % 7))/$i.txt; done; echo x >> run.sh")],
    "links and directories": [bash("rm link dangling; ln -s /etc/passwd dangling; rmdir empty/inside empty; mkdir -p new/dir; rm crlf.txt; mkdir crlf.txt")],
    "an ignored file is overwritten": [bash("echo gone > .env; : > debug.log")],
    "background": [call("Bash", command="rm src/one.py; echo done > out.txt", run_in_background=False)],
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", COMMANDS)
async def test_undo_brings_everything_back(make_session: SceneMaker, kind: str, name: str) -> None:
    furnish(make_session.workspace, kind)
    before = picture(make_session.workspace)
    in_git = git_picture(make_session.workspace)
    scene = make_session(*COMMANDS[name], {"text": "done"}, settings=YOLO)
    await scene.play()
    after = picture(scene.workspace)
    assert after != before
    preview, restored = await undo(scene)
    assert not restored.failed
    assert {each.outcome for each in preview.files} == {"restored"}
    assert picture(scene.workspace) == before
    assert git_picture(scene.workspace) == in_git
    await redo(scene)
    again = picture(scene.workspace)
    assert _without_times(again) == _without_times(after)
    await undo(scene)
    assert picture(scene.workspace) == before


def _without_times(found: dict[str, tuple[object, ...]]) -> dict[str, tuple[object, ...]]:
    return {
        name: (*each[:2], each[3]) if each[0] == "file" else each[:2]
        for name, each in found.items()
    }


@pytest.mark.parametrize(
    "command", ["git checkout -- .", "git clean -fdx", "git reset --hard", "git stash -u"]
)
async def test_what_git_threw_away_comes_back(make_session: SceneMaker, command: str) -> None:
    furnish(make_session.workspace, "repository")
    before = picture(make_session.workspace)
    scene = make_session(bash(command), {"text": "done"}, settings=YOLO)
    await scene.play()
    assert picture(scene.workspace) != before
    in_git = git_picture(scene.workspace)
    await undo(scene)
    assert picture(scene.workspace) == before
    assert git_picture(scene.workspace) == in_git
    assert "two.py" in git(scene.workspace, "status", "--porcelain")


async def test_git_clean_without_commits(make_session: SceneMaker) -> None:
    furnish(make_session.workspace, "without commits")
    before = picture(make_session.workspace)
    scene = make_session(bash("git clean -fdxq"), {"text": "done"}, settings=YOLO)
    await scene.play()
    assert not (scene.workspace / "src").exists()
    await undo(scene)
    assert picture(scene.workspace) == before


async def test_a_replace_over_five_hundred_files_is_one_undo(make_session: SceneMaker) -> None:
    furnish(make_session.workspace, "repository")
    make_session.write({f"many/m{n}.txt": f"old {n}\n" for n in range(500)})
    before = picture(make_session.workspace)
    replace = call("Replace", pattern="old", replacement="new", path="many", preview=False)
    scene = make_session(replace, {"text": "done"}, settings=YOLO)
    events = await scene.play()
    assert (scene.workspace / "many" / "m7.txt").read_text() == "new 7\n"
    files = finish(events).receipt.files
    assert len(files) == 500
    assert {(each.by, each.added, each.removed) for each in files} == {("tools", 1, 1)}
    await undo(scene, "call")
    assert picture(scene.workspace) == before


async def test_a_file_outside_the_workspace_comes_back(make_session: SceneMaker) -> None:
    outside = make_session.workspace.parent / "outside.txt"
    outside.write_text("mine\n")
    outside.chmod(0o640)
    os.utime(outside, ns=(10**18, 10**18))
    scene = make_session(
        bash(f"rm {outside} && echo x > {outside.parent}/made.txt"), {"text": "done"}, settings=YOLO
    )
    await scene.play()
    assert not outside.exists()
    await undo(scene)
    assert outside.read_text() == "mine\n"
    status = outside.stat()
    assert (status.st_mode & 0o777, status.st_mtime_ns) == (0o640, 10**18)
    assert not (outside.parent / "made.txt").exists()


async def test_a_whole_repository_comes_back(make_session: SceneMaker) -> None:
    root = make_session.workspace / "inner"
    root.mkdir()
    furnish(root, "repository")
    before, in_git = picture(root), {n: (m, d) for n, (m, _, d) in git_picture(root).items()}  # type: ignore[misc]
    scene = make_session(bash("rm -rf inner"), {"text": "done"}, settings=YOLO)
    await scene.play()
    assert not root.exists()
    await undo(scene)
    assert picture(root) == before
    assert {n: (m, d) for n, (m, _, d) in git_picture(root).items()} == in_git  # type: ignore[misc]


async def test_what_the_person_changed_since_is_merged(make_session: SceneMaker) -> None:
    lines = [f"line {n}\n" for n in range(60)]
    scene = make_session(
        bash("sed -i '1s/.*/agent/' long.txt"), {"text": "done"}, settings=YOLO,
        files={"long.txt": "".join(lines)},
    )  # fmt: skip
    await scene.play()
    path = scene.workspace / "long.txt"
    path.write_text(path.read_text().replace("line 50\n", "mine\n"))
    preview, _ = await undo(scene)
    assert [each.outcome for each in preview.files] == ["merged"]
    lines[50] = "mine\n"
    assert path.read_text() == "".join(lines)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [(None, "mine\n"), ("keep", "mine\n"), ("restore", "before\n"), ("markers", None)],
)
async def test_a_conflict_is_asked_about(
    make_session: SceneMaker, choice: Choice | None, expected: str | None
) -> None:
    scene = make_session(
        bash("echo agent > a.txt"), {"text": "done"}, settings=YOLO, files={"a.txt": "before\n"}
    )
    await scene.play()
    path = scene.workspace / "a.txt"
    path.write_text("mine\n")
    preview, _ = await undo(scene, choices={str(path): choice} if choice else None)
    (plan,) = preview.conflicts
    assert plan.choices == ("keep", "restore", "markers")
    text = path.read_text()
    if expected is None:
        assert "<<<<<<<" in text
        assert "mine\n" in text
        assert "before\n" in text
    else:
        assert text == expected


async def test_what_the_person_deleted_stays_deleted(make_session: SceneMaker) -> None:
    scene = make_session(
        bash("echo agent > a.txt; echo b > new.txt"), {"text": "done"}, settings=YOLO,
        files={"a.txt": "before\n"},
    )  # fmt: skip
    await scene.play()
    (scene.workspace / "a.txt").unlink()
    preview, _ = await undo(scene)
    outcomes = {Path(each.path).name: each.outcome for each in preview.files}
    assert outcomes == {"a.txt": "deleted by you", "new.txt": "restored"}
    assert not (scene.workspace / "a.txt").exists()
    assert not (scene.workspace / "new.txt").exists()


async def test_a_file_the_call_made_and_the_person_changed_is_asked_about(
    make_session: SceneMaker,
) -> None:
    scene = make_session(bash("mkdir d; echo agent > d/new.txt"), {"text": "ok"}, settings=YOLO)
    await scene.play()
    (scene.workspace / "d" / "new.txt").write_text("agent\nand me\n")
    (scene.workspace / "d" / "mine.txt").write_text("all mine\n")
    preview, restored = await undo(scene)
    assert [Path(each.path).name for each in preview.conflicts] == ["new.txt"]
    assert not restored.failed
    assert (scene.workspace / "d" / "new.txt").read_text() == "agent\nand me\n"
    assert (scene.workspace / "d" / "mine.txt").read_text() == "all mine\n"


async def test_undo_goes_back_call_by_call_and_redo_forward(make_session: SceneMaker) -> None:
    scene = make_session(
        bash("echo 1 > n.txt"), bash("echo 2 > n.txt"), bash("echo 3 > n.txt"), {"text": "ok"},
        settings=YOLO, files={"n.txt": "0\n"},
    )  # fmt: skip
    await scene.play()
    path = scene.workspace / "n.txt"
    seen = []
    for _ in range(3):
        await undo(scene, "call")
        seen.append(path.read_text())
    assert seen == ["2\n", "1\n", "0\n"]
    with pytest.raises(UserError, match="nothing to undo"):
        await undo(scene, "call")
    for expected in ("1\n", "2\n", "3\n"):
        await redo(scene)
        assert path.read_text() == expected
    with pytest.raises(UserError, match="nothing to redo"):
        await redo(scene)
    await undo(scene)
    assert path.read_text() == "0\n"


async def test_a_new_change_ends_redo(make_session: SceneMaker) -> None:
    scene = make_session(
        bash("echo 1 > n.txt"),
        {"text": "ok"},
        bash("echo x > other"),
        {"text": "ok"},
        settings=YOLO,
    )
    await scene.play()
    await undo(scene)
    await scene.play()
    with pytest.raises(UserError, match="nothing to redo"):
        await redo(scene)


async def test_a_command_of_the_persons_own_can_be_undone(make_session: SceneMaker) -> None:
    scene = make_session(
        {"text": "ok"}, files={"a.txt": "before\n", ".gitignore": "*.log\n", "x.log": "log\n"}
    )
    async with (
        asyncio.timeout(60),
        aclosing(scene.session.run_own("rm a.txt x.log", tool="Bash")) as events,
    ):
        seen = [event async for event in events]
    assert [(each.path, each.verb) for each in finish(seen).receipt.files] == [
        ("a.txt", "deleted"), ("x.log", "deleted"),
    ]  # fmt: skip
    await undo(scene)
    assert (scene.workspace / "a.txt").read_text() == "before\n"
    assert (scene.workspace / "x.log").read_text() == "log\n"


async def test_the_model_is_told_of_an_undo(make_session: SceneMaker) -> None:
    scene = make_session(bash("echo 1 > n.txt"), {"text": "ok"}, settings=YOLO)
    await scene.play()
    await undo(scene)
    last = scene.session.messages[-1]
    assert isinstance(last, UserMessage)
    assert last.origin == "program"
    assert "n.txt" in str(last.content)


async def test_a_proven_command_takes_no_checkpoint(make_session: SceneMaker) -> None:
    scene = make_session(bash("cat a.txt"), {"text": "ok"}, files={"a.txt": "1\n"})
    await scene.play()
    assert not (scene.home / ".local/state/agent/checkpoints").exists()


async def test_the_receipt_tells_tools_from_shell_and_what_runs(make_session: SceneMaker) -> None:
    serve = (
        'python3 -c \'import socket,time; s=socket.socket(); s.bind(("127.0.0.1",0)); s.listen(); '
        'open("port","w").write(str(s.getsockname()[1])); time.sleep(60)\''
    )
    scene = make_session(
        call("Write", file_path="made.txt", content="1\n2\n"),
        call("Bash", command=serve, run_in_background=True),
        bash("until [ -s port ]; do sleep 0.02; done; echo more >> a.txt"),
        {"text": "ok"},
        settings=YOLO,
        files={"a.txt": "1\n"},
    )
    events = await scene.play()
    receipt = finish(events).receipt
    tools = [each for each in receipt.files if each.by == "tools"]
    assert [(each.path, each.verb, each.added, each.removed) for each in tools] == [
        ("made.txt", "created", 2, 0)
    ]
    shell = {each.path: (each.verb, each.added) for each in receipt.files if each.by == "shell"}
    assert shell["a.txt"] == ("changed", 1)
    (running,) = receipt.running
    port = int((scene.workspace / "port").read_text())
    assert running.ports == (port,)
    line = receipt.line(finish(events).usage)
    assert "1 file changed by tools +2 −0" in line
    assert f"still runs on port {port}" in line


async def test_what_cannot_be_kept_is_asked_about(make_session: SceneMaker) -> None:
    settings = {**YOLO, "checkpoints": {"quota": 1}}
    scene = make_session(bash("rm big.log"), {"text": "ok"}, settings=settings,
                         files={".gitignore": "*.log\n", "big.log": "x" * 2_000_000})  # fmt: skip
    asked: list[ApprovalAsked] = []

    def no(request: ApprovalAsked) -> Approval:
        asked.append(request)
        return Approval(answer="no")

    await scene.play(answer=no)
    assert asked[0].request.reasons[0].code == "cannot_undo"
    assert (scene.workspace / "big.log").exists()


async def test_what_cannot_be_kept_is_not_done_where_nobody_can_be_asked(
    make_session: SceneMaker,
) -> None:
    settings = {**YOLO, "checkpoints": {"quota": 1}}
    scene = make_session(bash("rm big.log"), {"text": "ok"}, settings=settings, attended=False,
                         files={".gitignore": "*.log\n", "big.log": "x" * 2_000_000})  # fmt: skip
    events = await scene.play()
    (result,) = results(events).values()
    assert not result.result.success
    assert (scene.workspace / "big.log").exists()


async def test_a_yes_to_the_command_is_enough(make_session: SceneMaker) -> None:
    scene = make_session(bash("rm big.log"), {"text": "ok"}, settings={"checkpoints": {"quota": 1}},
                         files={".gitignore": "*.log\n", "big.log": "x" * 2_000_000})  # fmt: skip
    events = await scene.play(answer=yes)
    assert len(of_type(events, ApprovalAsked)) == 1
    assert any("cannot be undone" in notice.text for notice in of_type(events, Notice))
    assert not (scene.workspace / "big.log").exists()


async def test_what_a_program_does_to_a_nested_repository_is_undone(
    make_session: SceneMaker,
) -> None:
    inner = make_session.workspace / "vendor" / "lib"
    inner.mkdir(parents=True)
    git(inner, "init", "-q")
    (inner / "x.txt").write_text("x\n")
    script = make_session.workspace / "make.sh"
    script.write_text("echo y > vendor/lib/y.txt; echo z > z.txt; rm vendor/lib/x.txt\n")
    before = picture(make_session.workspace)
    scene = make_session(bash("sh make.sh"), {"text": "ok"}, settings=YOLO)
    await scene.play()
    assert not (inner / "x.txt").exists()
    await undo(scene)
    assert picture(scene.workspace) == before


async def test_checkpoints_are_private(make_session: SceneMaker) -> None:
    scene = make_session(
        bash("rm a.txt"), {"text": "ok"}, settings=YOLO, files={"a.txt": "secret\n"}
    )
    await scene.play()
    kept = scene.home / ".local/state/agent/checkpoints"
    for path in [kept, *kept.rglob("*")]:
        if path.is_dir():
            assert path.stat().st_mode & 0o777 == 0o700, path
        elif not path.name.startswith("="):  # a link to the person's own file keeps its mode
            assert path.stat().st_mode & 0o777 == 0o600, path


async def test_moments_tell_what_each_prompt_changed(make_session: SceneMaker) -> None:
    scene = make_session(
        bash("echo 1 > a"), {"text": "ok"}, {"text": "nothing"}, bash("echo 2 > b"), {"text": "ok"},
        settings=YOLO,
    )  # fmt: skip
    for prompt in ("first", "second", "third"):
        await scene.play(prompt)
    moments = await scene.session.undoing.moments()
    assert [(each.prompt, len(each.calls)) for each in moments] == [
        ("first", 1), ("second", 0), ("third", 1),
    ]  # fmt: skip
    preview = await scene.session.undoing.preview_since(2)
    await scene.session.undoing.apply(preview)
    assert (scene.workspace / "a").exists()
    assert not (scene.workspace / "b").exists()


async def test_a_resumed_session_can_still_undo(make_session: SceneMaker) -> None:
    scene = make_session(
        bash("rm a.txt"), {"text": "ok"}, settings=YOLO, files={"a.txt": "before\n"}
    )
    await scene.play()
    await scene.session.close()
    again = make_session({"text": "ok"}, settings=YOLO, resume=Resume(scene.session.id))
    assert again.session.id == scene.session.id
    (moment,) = await again.session.undoing.moments()
    assert [each.title for each in moment.calls] == ["rm a.txt"]
    await undo(again)
    assert (again.workspace / "a.txt").read_text() == "before\n"


async def test_diffs_are_of_what_is_not_undone(make_session: SceneMaker) -> None:
    scene = make_session(
        bash("echo 2 >> a.txt"), bash("sed -i s/2/3/ a.txt; echo n > new"), {"text": "ok"},
        settings=YOLO, files={"a.txt": "1\n"},
    )  # fmt: skip
    await scene.play()
    undoing, root = scene.session.undoing, str(scene.workspace)
    one, other = await undoing.diffs(root)
    assert one.text == "--- a.txt\n+++ a.txt\n@@ -1 +1,2 @@\n 1\n+3"
    assert other.text == "--- /dev/null\n+++ new\n@@ -0,0 +1 @@\n+n"
    await undo(scene, "call")
    (left,) = await undoing.diffs(root)
    assert left.text == "--- a.txt\n+++ a.txt\n@@ -1 +1,2 @@\n 1\n+2"
    await undo(scene, "call")
    assert await undoing.diffs(root) == ()


async def test_a_fork_can_undo_what_was_done_before_it(make_session: SceneMaker) -> None:
    scene = make_session(
        bash("rm a.txt; echo 1 > b.txt"), {"text": "ok"}, settings=YOLO, files={"a.txt": "before\n"}
    )
    await scene.play()
    await scene.session.close()
    forked = make_session(settings=YOLO, resume=Resume(scene.session.id, fork=True))
    assert forked.session.id != scene.session.id
    await undo(forked)
    assert (forked.workspace / "a.txt").read_text() == "before\n"
    assert not (forked.workspace / "b.txt").exists()
    await redo(forked)
    assert (forked.workspace / "b.txt").read_text() == "1\n"


async def test_an_interrupted_command_can_be_taken_back(make_session: SceneMaker) -> None:
    scene = make_session(
        bash("rm a.txt; echo begun > b.txt; sleep 60"), settings=YOLO, files={"a.txt": "before\n"}
    )
    async with asyncio.timeout(60), aclosing(scene.session.run("go")) as events:
        async for event in events:
            if isinstance(event, ToolStarted):
                await until((scene.workspace / "b.txt").exists)
                scene.session.interrupt()
    await undo(scene)
    assert (scene.workspace / "a.txt").read_text() == "before\n"
    assert not (scene.workspace / "b.txt").exists()


async def test_a_refused_call_leaves_no_checkpoint(make_session: SceneMaker) -> None:
    scene = make_session(bash("rm a.txt"), {"text": "ok"}, files={"a.txt": "before\n"})
    await scene.play(answer=lambda _: Approval(answer="no"))
    assert await scene.session.undoing.records() == ()


@pytest.mark.parametrize(
    ("quota", "said"),
    [
        (1000, "all 2 files can be restored with /undo"),
        (1, "it can't be undone: 4.0 MB is more than can be kept"),
    ],
)
async def test_the_question_tells_whether_it_can_be_taken_back(
    make_session: SceneMaker, quota: int, said: str
) -> None:
    text = "x" * 2_000_000
    scene = make_session(bash("rm a.txt b.txt"), {"text": "ok"}, files={"a.txt": text, "b.txt": text},
                         settings={"checkpoints": {"quota": quota}})  # fmt: skip
    events = await scene.play(answer=lambda _: Approval(answer="no"))
    (asked,) = of_type(events, ApprovalAsked)
    assert str(asked.request.undo) == said
