"""What is looked at, kept and trusted in large directories."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_cli.storage.checkpoint import contents, packs, workspace
from agent_cli.storage.checkpoint.blobs import Blobs
from tests.kit.oracle import differences, photograph
from tests.kit.places import git
from tests.unit.storage.test_checkpoint_store import Desk, names


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.store.close()


def test_line_ends_that_git_converts_are_heeded_at_every_look(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "_MANY", 3)
    git(desk.root, "init", "-q")
    (desk.root / ".gitattributes").write_text("*.txt text eol=crlf\n")
    for number in range(5):
        (desk.root / f"{number}.txt").write_bytes(b"one\r\n")
    git(desk.root, "add", "-A")
    git(desk.root, "commit", "-qm", "one")
    git(desk.root, "checkout", "-qb", "other")
    for number in range(5):
        (desk.root / f"{number}.txt").write_bytes(b"two\r\nlines\r\n")
    git(desk.root, "commit", "-qam", "two")
    before = photograph(desk.root)
    command = (
        "git checkout -q master || git checkout -q main; touch -d 2001-01-01 *.txt; git status"
    )
    first = desk.shell(f"{command} > /dev/null")
    after = photograph(desk.root)
    second = desk.shell("rm *.txt")
    assert first is not None
    assert second is not None
    desk.undo(second)
    assert differences(after, photograph(desk.root)) == {}
    desk.undo(first)
    assert differences(before, photograph(desk.root)) == {}


def test_what_is_no_longer_ignored_is_kept_though_nothing_changed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "MAX_BULK_FILES", 3)
    git(desk.root, "init", "-q")
    (desk.root / "data").mkdir()
    for number in range(5):
        (desk.root / "data" / str(number)).write_text(f"{number}\n")
    excludes = desk.root / ".git/info/exclude"
    excludes.write_text("data\n")
    assert desk.shell("true") is None
    before = photograph(desk.root)
    assert desk.shell("echo > .git/info/exclude") is None
    record = desk.shell("find . -name 3 -delete")
    assert record is not None
    desk.undo(record)
    assert differences(before, photograph(desk.root)) == {}


def test_a_large_workspace_is_watched_and_nothing_is_missed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace, "WATCHED_FILES", 1)
    (desk.root / "src").mkdir()
    (desk.root / "src/one").write_text("1\n")
    assert desk.shell("true") is None
    for number in range(5):
        assert desk.shell("true") is None
        record = desk.shell(f"echo {number} > src/one; echo {number} > src/new{number}")
        assert names(record, desk.root) == {"src/one": "changed", f"src/new{number}": "created"}


def test_a_file_changed_through_a_name_outside_that_a_command_gives_it_is_seen(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspace, "WATCHED_FILES", 1)
    (desk.root / "one").write_text("1\n")
    for _ in range(3):
        desk.shell("sleep 0.12")
    other = tmp_path / "other"
    record = desk.shell(f"ln one {other}; echo 2 >> {other}", writes=(str(other),))
    assert names(record, desk.root) == {"one": "changed", "../other": "created"}


# ── packs ────────────────────────────────────────────────────────────────────────────────────────


def test_half_a_piece_at_the_end_of_a_pack_is_none(tmp_path: Path) -> None:
    blobs = Blobs(tmp_path)
    kept = [blobs.add(b"piece %d" % number * number) for number in range(20)]
    blobs.close()
    (pack,) = tmp_path.iterdir()
    whole = pack.read_bytes()
    for length in range(len(whole) - 250, len(whole)):
        pack.write_bytes(whole[:length])
        found = Blobs(tmp_path)
        for number, name in enumerate(kept):
            if name in found:
                assert found.read(name) == b"piece %d" % number * number
        assert kept[0] in found
        assert kept[19] not in found
        again = found.add(b"piece 19" * 19)
        assert again == kept[19]
        assert Blobs(tmp_path).read(again) == b"piece 19" * 19
        found.close()
        for each in tmp_path.iterdir():
            if each != pack:
                each.unlink()


def test_what_is_not_needed_leaves_the_packs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packs, "_MAX_PACK_BYTES", 10_000)
    blobs = Blobs(tmp_path)
    pieces = {blobs.add(data): data for data in (os.urandom(1_000) for _ in range(100))}
    needed = set(list(pieces)[::7])
    blobs.drop_unneeded(needed)
    assert blobs.weight < 25_000
    assert sum(each.stat().st_size for each in tmp_path.iterdir()) == blobs.weight
    new = blobs.add(b"and one more")
    for found in (blobs, Blobs(tmp_path)):
        assert {name: found.read(name) for name in needed} == {n: pieces[n] for n in needed}
        assert found.read(new) == b"and one more"
    blobs.close()


def test_a_full_disk_leaves_no_piece_that_cannot_be_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blobs, write = Blobs(tmp_path), os.write
    first = blobs.add(b"first")
    calls = iter([4, OSError(28, "full")])

    def filling(descriptor: int, data: bytes) -> int:
        given = next(calls)
        if isinstance(given, OSError):
            raise given
        return write(descriptor, data[:given])

    monkeypatch.setattr(os, "write", filling)
    with pytest.raises(OSError, match="full"):
        blobs.add(b"does not fit")
    monkeypatch.undo()
    later = blobs.add(b"later")
    found = Blobs(tmp_path)
    assert (found.read(first), found.read(later)) == (b"first", b"later")
    blobs.close()
