"""Writes are whole, private where they should be, and never go through a link."""

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_cli.lib import files
from agent_cli.lib.files import (
    NotRegularFile,
    append_line,
    open_directory,
    open_regular,
    private_directory,
    read_identity,
    write_atomic,
)
from tests.kit.tongue import foreign_tongue


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(), st.binary())
def test_the_new_content_replaces_the_old(tmp_path: Path, old: bytes, new: bytes) -> None:
    path = tmp_path / "a.txt"
    write_atomic(path, old)
    write_atomic(path, new)
    assert path.read_bytes() == new
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("mode", [0o755, 0o444, 0o600, 0o4755])
def test_the_mode_of_an_existing_file_stays(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "run.sh"
    path.write_bytes(b"old")
    path.chmod(mode)
    write_atomic(path, b"new")
    assert mode_of(path) == mode


def test_a_new_file_gets_the_usual_or_the_wanted_mode(tmp_path: Path) -> None:
    (tmp_path / "usual").write_bytes(b"")
    write_atomic(tmp_path / "new", b"")
    write_atomic(tmp_path / "private", b"", mode=0o600)
    assert mode_of(tmp_path / "new") == mode_of(tmp_path / "usual")
    assert mode_of(tmp_path / "private") == 0o600


def test_a_write_that_fails_leaves_the_old_content_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]


def test_a_link_is_not_written_through_nor_replaced(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    with pytest.raises(NotRegularFile, match="symbolic link"):
        write_atomic(link, b"new")
    assert target.read_bytes() == b"old"
    assert link.is_symlink()


def test_a_link_that_appears_while_writing_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    fsync = os.fsync

    def swap(descriptor: int) -> None:
        fsync(descriptor)
        if not path.is_symlink():
            path.unlink()
            path.symlink_to("/elsewhere")

    monkeypatch.setattr(files.os, "fsync", swap)
    with pytest.raises(NotRegularFile):
        write_atomic(path, b"new")
    assert str(path.readlink()) == "/elsewhere"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]


def test_a_resolved_path_is_not_written_through_a_linked_directory(tmp_path: Path) -> None:
    base = tmp_path.resolve()
    (base / "out").mkdir()
    (base / "d").symlink_to(base / "out")
    for path in (base / "d" / "f", base / "d" / "deep" / "f"):
        with pytest.raises(OSError):
            write_atomic(path, b"x", follow_parents=False)
    assert list((base / "out").iterdir()) == []
    write_atomic(base / "d" / "f", b"x")
    assert (base / "out" / "f").read_bytes() == b"x"


def test_directories_are_made_on_the_way_but_not_through_links(tmp_path: Path) -> None:
    base = tmp_path.resolve()
    os.close(open_directory(base / "a" / "b", create=True))
    assert (base / "a" / "b").is_dir()
    (base / "l").symlink_to(base / "a")
    with pytest.raises(OSError):
        open_directory(base / "l" / "c", create=True)
    assert not (base / "a" / "c").exists()


def test_long_names_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 250)
    write_atomic(path, b"x")
    assert path.read_bytes() == b"x"


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


def make_link(path: Path) -> None:
    path.symlink_to("elsewhere")


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (make_pipe, "a named pipe"),
        (make_socket, "a socket"),
        (make_link, "a symbolic link"),
        (Path.mkdir, "a directory"),
    ],
)
@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY])
def test_special_files_are_refused_at_once(
    tmp_path: Path,
    make: Callable[[Path], None],
    kind: str,
    flags: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's path must be short
    make(Path("s"))
    with pytest.raises(NotRegularFile) as caught:
        open_regular("s", flags)
    assert caught.value.kind == kind
    with pytest.raises(NotRegularFile):
        write_atomic("s", b"x")


def test_a_device_is_refused() -> None:
    with pytest.raises(NotRegularFile, match="character device"):
        open_regular("/dev/null")


def test_a_missing_file_stays_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_regular(tmp_path / "none")


def test_a_regular_file_is_opened_and_has_one_identity(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    descriptor = open_regular(path)
    try:
        assert os.read(descriptor, 9) == b"abc"
        assert read_identity(descriptor) == read_identity(path)
    finally:
        os.close(descriptor)


def test_a_replaced_file_has_another_identity(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    before = read_identity(path)
    write_atomic(path, b"abcd")
    assert read_identity(path) != before


def test_lines_are_appended_to_a_private_file(tmp_path: Path) -> None:
    path = tmp_path / "log"
    for line in ("one", "two\n", "three\nfour"):
        append_line(path, line)
    assert path.read_bytes() == b"one\ntwo\nthree\\nfour\n"
    assert mode_of(path) == 0o600


def test_lines_are_not_appended_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "log").symlink_to(tmp_path / "target")
    with pytest.raises(OSError):
        append_line(tmp_path / "log", "x")
    assert not (tmp_path / "target").exists()


def test_a_private_directory_is_created_or_closed_to_others(tmp_path: Path) -> None:
    assert mode_of(private_directory(tmp_path / "a" / "b")) == 0o700
    (tmp_path / "open").mkdir(mode=0o755)
    assert mode_of(private_directory(tmp_path / "open")) == 0o700


def test_what_is_no_regular_file_says_what_it_is(tmp_path: Path) -> None:
    with foreign_tongue(), pytest.raises(NotRegularFile) as caught:
        open_regular(tmp_path)
    said = f"[Errno 22] not a regular file but a directory: {str(tmp_path)!r}"
    assert str(caught.value) == said
