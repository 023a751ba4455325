"""Checkpoints on disk: what is kept, for how long, and what a crash leaves."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agent_cli.core.undo.checkpoint import Record, UpcomingCall
from agent_cli.core.undo.undo_plan import paths_of, plan
from agent_cli.storage.checkpoint.quota import _lock_unused, hold, remove, sessions
from agent_cli.storage.checkpoint.states import MAX_FILE_BYTES
from agent_cli.storage.checkpoint_store import CheckpointStore
from tests.kit.places import KINDS, furnish, git, picture

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent"}


class Desk:
    """A store over a directory, used as the pipeline uses it."""

    def __init__(self, tmp_path: Path, session: str = "s", quota: int = 10**9) -> None:
        self.root = tmp_path / "project"
        self.root.mkdir(exist_ok=True)
        self.kept = tmp_path / "kept"
        self.store = CheckpointStore(
            self.kept, session, roots=[str(self.root)], home="/nonexistent",
            environment=ENVIRONMENT, quota=quota,
        )  # fmt: skip
        self._calls = 0

    def begin(self, **known: tuple[str, ...]) -> str:
        self._calls += 1
        name = f"call-{self._calls}"
        self.store.before(
            UpcomingCall(call_id=name, turn=1, tool="Bash", title="x", paths=None, **known)  # type: ignore[arg-type]
        )
        return name

    def shell(self, command: str, **known: tuple[str, ...]) -> Record | None:
        name = self.begin(**known)
        subprocess.run(command, shell=True, cwd=self.root, env=ENVIRONMENT, check=True)
        return self.store.after(name)

    def undo(self, *records: Record, restore: bool = False) -> list[str]:
        preview = plan("undo", records, self.store.now(paths_of(records)), self.store)
        choices = {each.path: "restore" for each in preview.files} if restore else {}
        self.store.restore(preview.steps(choices), kind="undo", of=records, turn=1)  # type: ignore[arg-type]
        return [each.outcome for each in preview.files]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.store.close()


def names(record: Record | None, root: Path) -> dict[str, str]:
    assert record is not None
    return {os.path.relpath(each.path, root): each.verb for each in record.changes}


@pytest.mark.parametrize("kind", KINDS)
def test_every_change_is_seen(desk: Desk, kind: str) -> None:
    furnish(desk.root, kind)
    commands = {
        "echo 1 > src/one.py": {"src/one.py": "changed"},
        "mkdir d && echo 1 > d/new": {"d": "created", "d/new": "created"},
        "mv d e": {"d": "deleted", "d/new": "deleted", "e": "created", "e/new": "created"},
        "echo '*.tmp' >> .gitignore && echo x > a.tmp": {
            ".gitignore": "changed", "a.tmp": "created",
        },
        "echo x > b.tmp": {"b.tmp": "created"},
        "chmod 600 run.sh": {"run.sh": "changed"},
        "touch -d 2001-01-01 run.sh": {"run.sh": "changed"},
        "rm -r src/deep": {
            "src/deep": "deleted", "src/deep/er": "deleted", "src/deep/er/three.py": "deleted",
        },
        "rm link && ln -s other link": {"link": "changed"},
        "rm -r e && echo file > e": {"e": "changed", "e/new": "deleted"},
        "true": {},
        "ln run.sh again.sh": {"again.sh": "created"},
        "echo more >> again.sh": {"again.sh": "changed", "run.sh": "changed"},
        "rmdir empty/inside": {"empty/inside": "deleted"},
        "mkdir -p empty/x/y": {"empty/x": "created", "empty/x/y": "created"},
    }  # fmt: skip
    for command, expected in commands.items():
        record = desk.shell(command)
        assert (names(record, desk.root) if record else {}) == expected, command


def test_what_changes_between_calls_is_nobodys(desk: Desk) -> None:
    furnish(desk.root, "repository")
    desk.shell("echo 1 > a")
    (desk.root / "src" / "one.py").write_text("mine\n")
    record = desk.shell("echo 2 > a")
    assert names(record, desk.root) == {"a": "changed"}


def test_line_ends_that_git_converts_come_back_as_they_were(desk: Desk) -> None:
    git(desk.root, "init", "-q")
    (desk.root / ".gitattributes").write_text("*.txt text eol=crlf\n*.id ident\n")
    (desk.root / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    (desk.root / "b.id").write_bytes(b"$Id$\n")
    for path in desk.root.iterdir():
        if path.is_file():
            os.utime(path, ns=(10**18, 10**18))
    git(desk.root, "add", "-A")
    os.utime(desk.root / ".git" / "index")
    git(desk.root, "commit", "-qm", "x")
    before = picture(desk.root)
    record = desk.shell("rm a.txt b.id")
    assert record is not None
    desk.undo(record)
    assert picture(desk.root) == before


def test_a_large_file_is_not_copied_and_named(desk: Desk) -> None:
    with (desk.root / "big.bin").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, MAX_FILE_BYTES + 1)
    kept = desk.store.before(UpcomingCall(call_id="x", turn=1, tool="Bash", title="x", paths=None))
    assert any(
        "big.bin is not kept for undo, except from commands that name it: it is larger" in note
        for note in kept.notes
    )
    (desk.root / "big.bin").unlink()
    record = desk.store.after("x")
    assert record is not None
    assert desk.undo(record) == ["lost"]


def test_a_large_file_that_is_named_comes_back(desk: Desk) -> None:
    path = desk.root / "big.bin"
    with path.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, MAX_FILE_BYTES + 1)
        file.write(b"head")
    record = desk.shell("rm big.bin", deletes=(str(path),))
    assert record is not None
    assert desk.undo(record) == ["restored"]
    assert path.stat().st_size == MAX_FILE_BYTES + 1
    assert path.read_bytes()[:5] == b"head\0"


def test_a_large_file_is_found_where_it_was_moved(desk: Desk) -> None:
    path = desk.root / "big.bin"
    with path.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, MAX_FILE_BYTES + 1)
    before = picture(desk.root)
    record = desk.shell("mkdir d; mv big.bin d/other.bin")
    assert record is not None
    assert desk.undo(record) == ["restored"] * 3
    assert picture(desk.root) == before


def test_hundreds_of_calls_stay_within_the_quota(tmp_path: Path) -> None:
    quota = 2_000_000
    desk = Desk(tmp_path, quota=quota)
    other = Desk(tmp_path, session="older")
    (desk.root / "data.bin").write_bytes(os.urandom(20_000))
    other.shell("echo old > old.txt")
    other.store.close()
    last = None
    for number in range(400):
        call = desk.begin()
        (desk.root / "data.bin").write_bytes(number.to_bytes(4, "big") + os.urandom(20_000))
        last = desk.store.after(call)
        if number % 100 == 0:
            assert sum(each.bytes for each in sessions(desk.kept)) <= quota
    assert sum(each.bytes for each in sessions(desk.kept)) <= quota
    assert [each.session_id for each in sessions(desk.kept)] == ["s"]
    assert 10 < len(desk.store.records()) < 200
    assert last is not None
    assert desk.undo(last) == ["restored"]
    assert (desk.root / "data.bin").read_bytes()[:4] == (398).to_bytes(4, "big")
    desk.store.close()


def test_sessions_in_use_are_not_pruned(tmp_path: Path) -> None:
    first, second = Desk(tmp_path, session="first"), Desk(tmp_path, session="second", quota=1000)
    record = first.shell("echo 1 > a")
    second.shell("head -c 5000 /dev/zero > zeros")
    assert record is not None
    assert first.undo(record) == ["restored"]
    first.store.close()
    second.store.close()


def test_a_resumed_session_keeps_what_it_has_not_needed_yet(tmp_path: Path) -> None:
    first = Desk(tmp_path, session="first")
    assert (record := first.shell("echo 1 > a")) is not None
    first.store.close()
    resumed, other = Desk(tmp_path, session="first"), Desk(tmp_path, session="other", quota=1000)
    other.shell("head -c 5000 /dev/zero > zeros")
    assert resumed.undo(record) == ["restored"]
    resumed.store.close()
    other.store.close()


def test_a_look_at_the_sizes_does_not_keep_a_session_from_being_held(tmp_path: Path) -> None:
    own = tmp_path / "kept" / "s"
    os.close(hold(own))
    with ThreadPoolExecutor(1) as pool, _lock_unused(own) as is_free:
        assert is_free
        holding = pool.submit(hold, own)
        with pytest.raises(TimeoutError):
            holding.result(0.1)
        shutil.rmtree(own)
    descriptor = holding.result(60)
    assert not remove(own)
    os.close(descriptor)
    assert remove(own)


CRASHING = """
import os, sys
sys.path.insert(0, sys.argv[3])
from pathlib import Path
from tests.unit.storage.test_checkpoint_store import Desk
desk = Desk(Path(sys.argv[1]))
desk.shell("echo 1 > first.txt")
name = desk.begin(deletes=(str(desk.root / "ignored.log"),))
os.chdir(desk.root)
os.system(sys.argv[2])
os.kill(os.getpid(), 9)
"""


def test_a_call_that_a_crash_cut_short_can_be_taken_back_after_a_question(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    furnish(root, "repository")
    (root / "ignored.log").write_text("log\n")
    before = picture(root)
    here = str(Path(__file__).parents[3])
    command = "rm -rf src ignored.log; echo x > run.sh; echo new > made.txt"
    subprocess.run([sys.executable, "-c", CRASHING, str(tmp_path), command, here], check=False)
    assert not (root / "src").exists()
    desk = Desk(tmp_path)
    first, cut = desk.store.records()
    assert not first.is_open
    assert cut.is_open
    assert set(desk.undo(cut)) <= {"conflict", "deleted by you"}
    assert not (root / "src").exists()
    desk.undo(cut, restore=True)
    (root / "first.txt").unlink()
    assert picture(root) == before
    desk.store.close()


def test_what_a_killed_write_left_beside_its_file_goes(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    path = desk.root / "out"
    call = UpcomingCall(call_id="w", turn=1, tool="Write", title="out", paths=(str(path),))
    desk.store.before(call)
    desk.store.close()  # the call never ends
    half, other = desk.root / ".out.0123456789ab.tmp", desk.root / ".out.mine.tmp"
    half.write_text("ha")
    other.write_text("mine")
    again = Desk(tmp_path)
    again.store.records()
    assert not half.exists()
    assert other.exists()
    again.store.close()


def test_half_written_files_of_ours_do_no_harm(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    (desk.root / "a").write_text("before\n")
    record = desk.shell("echo 1 > a")
    desk.store.close()
    own = desk.kept / "s"
    (own / "blobs" / ".half").write_bytes(b"ha")
    (own / "records" / ".half").write_text("{")
    (own / "records" / "00000099.json").write_text('{"number": 99, "ki')
    with (own / "manifest").open("ab") as file:
        file.write(b"\0\0\0\0\0\0\1\0half")
    again = Desk(tmp_path)
    assert [each.number for each in again.store.records()] == [record.number if record else 0]
    assert again.undo(*again.store.records()) == ["restored"]
    assert (again.root / "a").read_text() == "before\n"
    again.store.close()


def test_a_directory_exchanged_for_a_link_is_not_followed(desk: Desk, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (desk.root / "d").mkdir()
    (desk.root / "d" / "f").write_text("before\n")
    record = desk.shell(f"rm -r d && ln -s {elsewhere} d")
    assert record is not None
    (elsewhere / "f").write_text("not yours\n")
    assert desk.undo(record) == ["restored", "restored"]
    assert (elsewhere / "f").read_text() == "not yours\n"
    assert (desk.root / "d" / "f").read_text() == "before\n"
    assert not (desk.root / "d").is_symlink()


def test_what_cannot_fit_does_not_drive_out_what_does(tmp_path: Path) -> None:
    desk = Desk(tmp_path, quota=1_000_000)
    (desk.root / ".gitignore").write_text("big\n")
    (desk.root / "big").write_bytes(b"x" * 900_000)
    (desk.root / "small").write_text("before\n")
    first = desk.shell("echo 1 > small")
    kept = desk.store.before(
        UpcomingCall(
            call_id="x", turn=1, tool="Bash", title="rm big", paths=None,
            deletes=(str(desk.root / "big"),),
        )
    )  # fmt: skip
    assert kept.lost == ("900 kB is more than the space set aside for undo",)
    assert desk.store.after("x") is None
    assert list(desk.store.records()) == [first]
    desk.store.close()


def test_on_another_disk_things_are_moved_aside_there(tmp_path: Path) -> None:
    shared = Path("/dev/shm")
    if not shared.is_dir() or shared.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no other disk")
    with tempfile.TemporaryDirectory(dir=shared) as name:
        desk = Desk(tmp_path)
        desk.root = Path(name)
        desk.store = CheckpointStore(
            desk.kept, "s", roots=[name], home="/nonexistent", environment=ENVIRONMENT
        )
        furnish(desk.root, "repository")
        before = picture(desk.root)
        record = desk.shell("rm -r src; echo 1 > made; echo 2 > run.sh; mv build b2")
        assert record is not None
        after = picture(desk.root)
        assert set(desk.undo(record)) == {"restored"}
        left = picture(desk.root, besides=(".git", ".agent-undo"))
        assert left == before
        assert "agent-undo" not in git(desk.root, "status", "--porcelain")
        (undone,) = [each for each in desk.store.records() if each.kind == "undo"]
        preview = plan("redo", [undone], desk.store.now(paths_of([undone])), desk.store)
        desk.store.restore(preview.steps({}), kind="redo", of=[undone], turn=1)
        left = picture(desk.root, besides=(".git", ".agent-undo"))
        assert left.keys() == after.keys()
        assert left["made"] == after["made"]
        desk.store.close()
        assert remove(desk.kept / "s")
        assert not (desk.root / ".agent-undo").exists()


def test_our_own_files_are_no_change_of_a_call(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.store = CheckpointStore(
        desk.root / "state", "s", roots=[str(desk.root)], home="/nonexistent",
        environment=ENVIRONMENT,
    )  # fmt: skip
    desk.shell("true")
    assert names(desk.shell("echo 1 > a"), desk.root) == {"a": "created"}
    assert desk.shell("true") is None
    desk.store.close()
