"""Ordinary commands, undone: the directory is as it was, byte for byte, and nothing else is gone."""

import asyncio
import json
import os
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from agent_cli.core.errors import UserError
from agent_cli.core.events import Notice, ToolStarted
from agent_cli.core.undo.checkpoint import RestoreOutcome
from agent_cli.core.undo.undo_plan import Choice, Preview
from agent_cli.launch_options import Resume
from tests.kit.fake_view import controlled
from tests.kit.oracle import differences, inside_git, photograph
from tests.kit.places import furnish, git
from tests.kit.sessions import Scene, SceneMaker, finish, of_type
from tests.kit.shells import until

YOLO = {"mode": "yolo"}
OTHER_BRANCH = "old"


def bash(command: str) -> dict[str, Any]:
    return {"calls": [{"name": "Bash", "arguments": {"command": command}}]}


def project(root: Path, kind: str = "repository") -> None:
    """A project with uncommitted work, ignored files and a branch on which nothing is ignored."""
    root.mkdir(exist_ok=True)
    furnish(root, kind)
    for name, text in {
        "node_modules/left/index.js": "left\n",
        "node_modules/pad/index.js": "pad\n",
        "data/raw.csv": "1,2\n",
        "data/deep/more.csv": "3,4\n",
        "notes.txt": "uncommitted\n",
        "lib/a.py": "a\n",
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "secret").mkdir(mode=0o700)
    (root / "secret" / "key").write_text("k\n")
    if kind == "repository":
        git(root, "checkout", "-q", "-b", OTHER_BRANCH)
        git(root, "rm", "-q", "--cached", ".gitignore")
        git(root, "commit", "-qm", "nothing is ignored")
        git(root, "checkout", "-qf", "-")
    (root / ".gitignore").write_text("*.log\nbuild/\n.env\nnode_modules/\ndata/\n")
    if kind == "repository":
        git(root, "add", ".gitignore")
        git(root, "commit", "-qm", "ignore more")


async def undo(
    scene: Scene, scope: str = "turn", choices: dict[str, Choice] | None = None
) -> tuple[Preview, RestoreOutcome]:
    preview = await scene.session.undoing.preview(scope)
    return preview, await scene.session.undoing.apply(preview, choices)


async def redo(scene: Scene) -> None:
    await scene.session.undoing.apply(await scene.session.undoing.preview_redo())


CHANGE_NOTHING = [
    "chmod +x run.sh",
    "chmod -R u+rw .",
    "chmod 755 src",
    "chown -R $(id -u):$(id -g) src",
    "test -d nope && rm -rf src; true",
    "cd lib && false && rm -rf ../src; true",
    "if [ -e /nowhere ]; then rm -rf src lib; fi",
    "yes n | rm -ri src; true",
    "echo n | rm -i run.sh; true",
    "mv src nowhere/deeper; true",
    "mv -n run.sh notes.txt; true",
    "false && shred -u run.sh; true",
    "mv src s2; mv s2 src",
    "cp -a src copy; rm -rf src; mv copy src",
    "false && mv .env node_modules; true",
    "git status > /dev/null; git stash list",
    "touch -r notes.txt ../ref; rm ../ref",
]


@pytest.mark.parametrize("command", CHANGE_NOTHING)
@pytest.mark.parametrize("kind", ["repository", "bare directory"])
async def test_a_command_that_changed_nothing_leaves_no_record(
    make_session: SceneMaker, command: str, kind: str
) -> None:
    project(make_session.workspace, kind)
    before = photograph(make_session.workspace)
    scene = make_session(bash(command), {"text": "done"}, settings=YOLO)
    events = await scene.play()
    assert differences(before, photograph(scene.workspace)) == {}
    assert finish(events).receipt.files == ()
    assert await scene.session.undoing.records() == ()
    with pytest.raises(UserError):
        await undo(scene)
    assert differences(before, photograph(scene.workspace)) == {}


COME_BACK: dict[str, list[str]] = {
    "another branch where nothing is ignored": [f"git checkout -q {OTHER_BRANCH}"],
    "a hard reset to before the ignoring": ["git reset -q --hard HEAD~1"],
    "the ignore file goes": ["rm .gitignore"],
    "the ignore file is edited": ["sed -i /env/d .gitignore"],
    "the repository goes": ["rm -rf .git"],
    "the repository goes and then uncommitted files": ["rm -rf .git", "rm -f notes.txt src/two.py"],
    "the repository and all else goes in one command": ["rm -rf .git src notes.txt"],
    "a directory is made again and written into": [
        "tar cf ../s.tar src; rm -rf src; tar xf ../s.tar", "echo x > src/deep/er/three.py"],
    "an ignored file gets another mode and goes": ["chmod 600 .env", "rm .env"],
    "an ignored binary is overwritten and goes": [
        "printf '\\0\\1\\2' > build/out.o", "rm build/out.o"],
    "an ignored file becomes a directory": ["rm -rf .env && mkdir -p .env/inside"],
    "an ignored directory is made again": ["rm -rf secret && mkdir secret"],
    "every mode changes": ["chmod -R 777 ."],
    "a directory is closed": ["chmod 500 src"],
    "a directory of ignored files is made again": ["rm -rf build && mkdir build"],
    "a pipe is made": ["mkfifo pipe"],
    "a pipe goes": ["rm -f pipe; mkfifo made; rm made; mkfifo third"],
    "a directory moves": ["mv src renamed"],
    "a directory with ignored files moves": ["mv data moved"],
    "two names are exchanged": ["mv notes.txt t; mv run.sh notes.txt; mv t run.sh"],
    "names with any bytes": [
        "printf x > $'new\\nline'; printf y > $'\\xff\\xfe'; printf z > ünï; rm notes.txt"],
    "links": ["rm link; ln -s notes.txt link; ln notes.txt hard; ln -s .. up; rm dangling"],
    "a link becomes a directory": ["rm link && mkdir link && echo 1 > link/x"],
    "a directory becomes a link": ["rm -rf src && ln -s lib src"],
    "a program writes to ignored files": [
        "python3 -c \"open('.env','w').write('gone'); open('data/raw.csv','a').write('5')\""],
    "a program deletes ignored files": [
        "python3 -c \"import shutil; shutil.rmtree('node_modules'); shutil.rmtree('data')\""],
    "a repository is made inside": ["git init -q sub && echo 1 > sub/f"],
    "a repository inside moves": ["git init -q sub && echo 1 > sub/f", "mv sub other"],
    "a large file with holes": ["truncate -s 200M big", "mv big data/big", "rm data/big"],
    "all goes": ["rm -rf src lib data node_modules .env *.txt run.sh"],
    "git clean": ["git clean -qfdx"],
    "git stash": ["git stash -qu"],
    "work on many": ["for i in $(seq 300); do mkdir -p g/$((i % 9)); echo $i > g/$((i % 9))/$i; done",
                     "rm -rf g/3; mv g/4 g/3; sed -i s/1/2/ g/5/*; chmod 600 g/6/*"],
}  # fmt: skip


@pytest.mark.parametrize("kind", ["repository", "bare directory"])
@pytest.mark.parametrize("name", COME_BACK)
async def test_undo_restores_the_whole_directory_byte_for_byte(
    make_session: SceneMaker, name: str, kind: str
) -> None:
    commands = COME_BACK[name]
    if kind != "repository" and any("git" in each and "init" not in each for each in commands):
        pytest.skip("needs a repository")
    project(make_session.workspace, kind)
    before, in_git = photograph(make_session.workspace), inside_git(make_session.workspace)
    scene = make_session(*map(bash, commands), {"text": "done"}, settings=YOLO)
    await scene.play()
    after = photograph(scene.workspace)
    preview, restored = await undo(scene)
    assert not restored.failed
    assert {each.outcome for each in preview.files} <= {"restored"}
    assert differences(before, photograph(scene.workspace)) == {}
    if "rm -rf .git" in commands[0]:
        assert differences(in_git, inside_git(scene.workspace)) == {}
    await redo(scene)
    assert differences(after, photograph(scene.workspace)) == {}
    await undo(scene)
    assert differences(before, photograph(scene.workspace)) == {}


async def test_undo_call_by_call_goes_through_every_state(make_session: SceneMaker) -> None:
    project(make_session.workspace)
    commands = [
        given[0]
        for name, given in COME_BACK.items()
        if "repository" not in name and "git" not in given[0].partition(" ")[0]
    ]
    steps = [step for command in commands for step in (bash(command), {"text": "done"})]
    scene = make_session(*steps, settings=YOLO)
    photos = []
    for _ in commands:
        photos.append(photograph(scene.workspace))
        await scene.play()
    for photo in reversed(photos):
        if differences(photo, photograph(scene.workspace)):
            await undo(scene, "call")
        assert differences(photo, photograph(scene.workspace)) == {}


@pytest.mark.parametrize("size", ["120M", "2G"])
async def test_an_ignored_file_of_any_size_survives_a_change_of_what_is_ignored(
    make_session: SceneMaker, size: str
) -> None:
    project(make_session.workspace)
    weights = make_session.workspace / "data" / "weights.bin"
    with weights.open("wb") as file:
        file.write(b"weights")
        file.truncate(int(size[:-1]) * (1 << 20 if size.endswith("M") else 1 << 30))
    before = photograph(make_session.workspace)
    scene = make_session(bash("rm .gitignore"), {"text": "done"}, settings=YOLO)
    await scene.play()
    preview, _ = await undo(scene)
    assert [Path(each.path).name for each in preview.files] == [".gitignore"]
    assert differences(before, photograph(scene.workspace)) == {}


async def test_what_a_call_made_is_kept_aside_by_undo_whatever_its_size(
    make_session: SceneMaker,
) -> None:
    scene = make_session(
        bash("head -c 120000000 /dev/urandom > big.bin"), {"text": "done"}, settings=YOLO
    )
    await scene.play()
    after = photograph(scene.workspace)
    await undo(scene)
    assert not (scene.workspace / "big.bin").exists()
    await redo(scene)
    assert differences(after, photograph(scene.workspace)) == {}


async def test_what_you_save_while_a_command_runs_is_kept(make_session: SceneMaker) -> None:
    project(make_session.workspace)
    command = "echo begun > begun.txt; until [ -e saved.txt ]; do sleep 0.02; done; echo x > run.sh"
    scene = make_session(bash(command), {"text": "done"}, settings=YOLO)
    async with asyncio.timeout(60), aclosing(scene.session.run("go")) as events:
        async for event in events:
            if isinstance(event, ToolStarted):
                await until((scene.workspace / "begun.txt").exists)
                (scene.workspace / "lib" / "a.py").write_text("mine\n")
                (scene.workspace / "saved.txt").write_text("mine too\n")
    preview, _ = await undo(scene)
    asked = {Path(each.path).name: each.choices[0] for each in preview.conflicts}
    assert asked == {"a.py": "keep", "saved.txt": "keep"}
    assert (scene.workspace / "lib" / "a.py").read_text() == "mine\n"
    assert (scene.workspace / "saved.txt").read_text() == "mine too\n"
    assert not (scene.workspace / "begun.txt").exists()
    assert (scene.workspace / "run.sh").read_text() == "#!/bin/sh\necho hi\n"


async def test_what_another_session_made_while_ours_ran_is_never_ours(
    make_session: SceneMaker,
) -> None:
    waits = "python3 -c \"import os,time\nopen('mine','w').write('1')\nwhile not os.path.exists('theirs'): time.sleep(.02)\ntime.sleep(.3)\""
    ours = make_session(bash(waits), {"text": "done"}, settings=YOLO)
    other = make_session(bash("mkdir -p d; echo 2 > d/f; echo 1 > theirs"), {"text": "done"}, settings=YOLO)  # fmt: skip
    playing = asyncio.create_task(ours.play())
    await until((ours.workspace / "mine").exists)
    await other.play()
    await playing
    preview, _ = await undo(ours)
    assert [Path(each.path).name for each in preview.files] == ["mine"]
    left = photograph(ours.workspace)
    assert {"d", "d/f", "theirs"} <= left.keys()
    assert "mine" not in left
    await undo(other)
    assert set(photograph(ours.workspace)) == {"."}


async def test_a_command_is_not_thought_to_change_the_place_where_the_program_runs(
    make_session: SceneMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(make_session.workspace)
    scene = make_session(bash("mkdir -p d; echo 1 > d/x"), {"text": "done"}, settings=YOLO)
    await scene.play()
    (record,) = await scene.session.undoing.records()
    root = str(make_session.workspace)
    assert set(record.targets or ()) == {f"{root}/d", f"{root}/d/x"}


async def test_a_directory_that_cannot_be_listed_is_never_taken_for_new(
    make_session: SceneMaker,
) -> None:
    if os.geteuid() == 0:
        pytest.skip("root can list everything")
    project(make_session.workspace)
    (make_session.workspace / "secret").chmod(0)
    scene = make_session(bash("chmod 700 secret"), {"text": "done"}, settings=YOLO)
    await scene.play()
    await undo(scene)
    (scene.workspace / "secret").chmod(0o700)
    assert (scene.workspace / "secret" / "key").read_text() == "k\n"


async def test_what_is_not_kept_is_said_before(make_session: SceneMaker) -> None:
    project(make_session.workspace)
    for number in range(2_500):
        place = make_session.workspace / "node_modules" / f"m{number % 50}"
        place.mkdir(exist_ok=True)
        (place / f"{number}.js").write_text("x")
    scene = make_session(bash("./run.sh; echo 1 > new"), {"text": "done"}, settings=YOLO)
    events = await scene.play()
    kinds = [type(event).__name__ for event in events]
    said = [each for each in of_type(events, Notice) if "node_modules" in each.text]
    assert len(said) == 1
    assert kinds.index("Notice") < kinds.index("ToolFinished")


async def test_a_write_that_was_interrupted_is_known_to_undo(make_session: SceneMaker) -> None:
    content = "line\n" * 4_000_000
    write = {
        "calls": [{"name": "Write", "arguments": {"file_path": "big.txt", "content": content}}]
    }
    scene = make_session(write, settings=YOLO)
    async with asyncio.timeout(60), aclosing(scene.session.run("go")) as events:
        async for event in events:
            if isinstance(event, ToolStarted):
                await asyncio.sleep(0.1)
                scene.session.interrupt()
    records = await scene.session.undoing.records()
    assert (scene.workspace / "big.txt").exists() == bool(records)
    await asyncio.sleep(0.3)
    assert (scene.workspace / "big.txt").exists() == bool(records)


MOVED_REPOSITORIES = [
    "mv .git .git.bak",
    "mv .git ../gone.git",
    "mv nest/.git nestgit",
    "mv .git .git.bak && git init -q",
    "rm -rf .git && git init -q",
]


@pytest.mark.parametrize("command", MOVED_REPOSITORIES)
async def test_a_repository_that_was_moved_or_replaced_comes_back(
    make_session: SceneMaker, command: str
) -> None:
    project(make_session.workspace)
    nest = make_session.workspace / "nest"
    nest.mkdir()
    furnish(nest, "repository")
    before, inside = photograph(make_session.workspace), inside_git(make_session.workspace)
    head = git(nest, "rev-parse", "HEAD")
    scene = make_session(bash(command), {"text": "done"}, settings=YOLO)
    await scene.play()
    changed = photograph(make_session.workspace)
    for _ in range(2):
        await undo(scene)
        assert differences(before, photograph(scene.workspace)) == {}
        assert inside_git(scene.workspace) == inside
        assert git(nest, "rev-parse", "HEAD") == head
        await redo(scene)
        assert differences(changed, photograph(scene.workspace)) == {}


async def test_the_only_copy_of_a_repository_stays_where_it_cannot_return(
    make_session: SceneMaker,
) -> None:
    project(make_session.workspace)
    inside = inside_git(make_session.workspace)
    scene = make_session(bash("mv .git .git.bak"), {"text": "done"}, settings=YOLO)
    await scene.play()
    git(scene.workspace, "init", "-q")
    await undo(scene)
    (scene.workspace / ".git").rename(scene.workspace / "new")
    (scene.workspace / ".git.bak").rename(scene.workspace / ".git")
    assert inside_git(scene.workspace) == inside


async def test_a_file_too_large_to_copy_comes_back_again_and_again(
    make_session: SceneMaker,
) -> None:
    big = make_session.workspace / "big.bin"
    big.write_bytes(os.urandom(1_000_000) * 101)
    scene = make_session(bash("rm big.bin"), {"text": "done"}, settings=YOLO)
    await scene.play()
    for _ in range(3):
        await undo(scene)
        assert big.stat().st_size == 101_000_000
        await redo(scene)
        assert not big.exists()


async def test_a_file_too_large_to_copy_comes_back_when_a_command_that_names_it_overwrites_it(
    make_session: SceneMaker,
) -> None:
    big = make_session.workspace / "big.bin"
    big.write_bytes(bytes(range(250)) * 404_000)
    scene = make_session(bash("echo x > big.bin"), {"text": "done"}, settings=YOLO)
    await scene.play()
    await undo(scene)
    assert big.stat().st_size == 101_000_000


def fill(place: Path) -> None:
    place.mkdir()
    for number in range(1_010):
        (place / f"f{number}").write_text(f"{number}\n")


@pytest.mark.parametrize("name", ["node_modules", "un-ignored"])
async def test_what_git_does_not_ignore_now_is_kept(make_session: SceneMaker, name: str) -> None:
    root = make_session.workspace
    root.mkdir(exist_ok=True)
    furnish(root, "repository")
    (root / ".gitignore").write_text("un-ignored/\n")
    fill(root / name)
    delete = f"python3 -c \"import os;[os.remove('{name}/f%d'%i) for i in range(50)]\""
    scene = make_session(
        bash("sed -i /un-ignored/d .gitignore"), {"text": "done"}, bash(delete), {"text": "done"},
        settings=YOLO,
    )  # fmt: skip
    await scene.play()
    before = photograph(root)
    await scene.play()
    await undo(scene)
    assert differences(before, photograph(root)) == {}


async def test_nothing_is_made_through_a_link_that_is_on_the_way_now(
    make_session: SceneMaker, tmp_path: Path
) -> None:
    root = make_session.workspace
    (root / "src" / "deep").mkdir(parents=True)
    (root / "src" / "deep" / "x").write_text("x\n")
    scene = make_session(bash("rm -rf src"), {"text": "done"}, settings=YOLO)
    await scene.play()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (root / "src").symlink_to(elsewhere)
    _, restored = await undo(scene)
    assert list(elsewhere.iterdir()) == []
    assert len(restored.failed) == 2


async def test_an_undo_that_was_cut_short_is_told_at_the_next_start(
    make_session: SceneMaker, tmp_path: Path
) -> None:
    scene = make_session(bash("echo 1 > new"), {"text": "done"}, settings=YOLO)
    await scene.play()
    await undo(scene)
    await scene.session.close()
    last = max(tmp_path.rglob("records/*.json"))
    last.write_text(json.dumps(json.loads(last.read_text()) | {"is_open": True}))
    resumed = make_session(settings=YOLO, resume=Resume(scene.session.id))
    controller, view = controlled(resumed.session)
    controller.begin()
    await until(lambda: any("cut short" in each for each in view.notices))
    await controller.close()


async def test_a_conflict_without_an_answer_keeps_that_file_alone(
    make_session: SceneMaker,
) -> None:
    scene = make_session(bash("echo 1 > mine; echo 1 > other"), {"text": "done"}, settings=YOLO)
    controller, view = controlled(scene.session)
    controller.submit("go")
    await controller.idle()
    (scene.workspace / "mine").write_text("2\n")
    view.choices = ["yes", ""]
    controller.submit("/undo")
    await controller.idle()
    assert (scene.workspace / "mine").read_text() == "2\n"
    assert not (scene.workspace / "other").exists()


@pytest.mark.parametrize("name", ["folder/new", "dangling"])
async def test_a_new_file_outside_that_is_named_through_a_link_goes_again(
    make_session: SceneMaker, tmp_path: Path, name: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (make_session.workspace / "folder").symlink_to(outside)
    (make_session.workspace / "dangling").symlink_to(outside / "new")
    scene = make_session(bash(f"echo 7 > {name}"), {"text": "done"}, settings=YOLO)
    await scene.play()
    assert (outside / "new").exists()
    await undo(scene)
    assert list(outside.iterdir()) == []
