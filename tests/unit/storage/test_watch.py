"""A manifest that asks the kernel where something changed sees what one that looks at every name
sees."""

import contextlib
import ctypes
import mmap
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_cli.core.undo.checkpoint import PathChange, PathState
from agent_cli.storage.checkpoint import manifest as manifest_module
from agent_cli.storage.checkpoint import watch as watch_module
from agent_cli.storage.checkpoint.blobs import Blobs
from agent_cli.storage.checkpoint.manifest import Manifest, Top
from agent_cli.storage.checkpoint.states import keep
from agent_cli.storage.checkpoint.watch import Watch

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")


class Bytes:
    """Keeps the bytes of all files."""

    def __init__(self, directory: Path) -> None:
        self._blobs = Blobs(directory)

    def choose(
        self, found: dict[str, os.stat_result], known: Iterable[str], *, is_first: bool
    ) -> None:
        """All are kept."""

    def state(self, path: str, status: os.stat_result) -> PathState:
        return keep(self._blobs, path, status)


class Pair:
    """Two manifests of one directory, only one of which is told where to look."""

    def __init__(self, directory: Path) -> None:
        self.above, self.outside = directory / "above", directory / "outside"
        self.root = self.above / "root"
        self.outside.mkdir()
        for name in ("a/s", "b/s", "c"):
            (self.root / name).mkdir(parents=True)
        for name in ("top", "a/x", "a/s/x", "b/x", "b/s/x", "c/x"):
            (self.root / name).write_text(f"{name}\n")
        top = (Top(str(self.root)),)
        self.plain = Manifest(top, Bytes(directory / "one"))
        self.watched = Manifest(top, Bytes(directory / "two"))

    def begin(self) -> None:
        """Both know all there is, and what is watched is vouched for."""
        self.watched.watch = Watch([str(self.root)])
        for _ in range(2):
            assert self.see() == []
        assert self.watched.watch.is_on

    def see(self) -> list[PathChange]:
        """What both see, which is the same."""
        told = self.watched.look()  # first: that the other reads files is told, too
        seen = self.plain.look()
        assert sorted(told, key=_path) == sorted(seen, key=_path)
        return seen

    def names(self) -> set[str]:
        return {os.path.relpath(each.path, self.root) for each in self.see()}


def _path(change: PathChange) -> str:
    return change.path


@pytest.fixture
def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    monkeypatch.setattr(manifest_module, "_RACY_NS", 0)  # else nothing here is ever vouched for
    made = Pair(tmp_path)
    yield made
    assert made.watched.watch is not None
    made.watched.watch.close()


def _listed(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The directories that the watched manifest lists from now on."""
    listed: list[str] = []
    names = manifest_module._names

    def noting(directory: str) -> object:
        listed.append(os.path.relpath(directory, pair.root))
        return names(directory)

    monkeypatch.setattr(manifest_module, "_names", noting)
    return listed


def test_only_where_something_changed_is_looked(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair.begin()
    listed = _listed(pair, monkeypatch)
    assert pair.watched.look() == []
    assert listed == []
    (pair.root / "a/s/x").write_text("new\n")
    assert [each.path for each in pair.watched.look()] == [str(pair.root / "a/s/x")]
    assert set(listed) == {"a", "a/s"}
    pair.plain.look()


def test_a_file_changed_through_its_other_name_is_seen(pair: Pair) -> None:
    os.link(pair.root / "a/x", pair.outside / "x")
    pair.begin()
    (pair.outside / "x").write_text("through the other name\n")
    assert pair.names() == {"a/x"}


def test_a_name_made_inside_for_a_file_is_seen_with_all_that_follows(pair: Pair) -> None:
    pair.begin()
    os.link(pair.root / "a/x", pair.root / "c/y")
    assert pair.names() == {"c/y"}
    (pair.root / "c/y").write_text("both\n")
    assert pair.names() == {"a/x", "c/y"}
    (pair.root / "c/y").unlink()
    (pair.root / "b/x").write_text("b\n")
    assert pair.names() == {"b/x", "c/y"}


def test_what_had_just_changed_is_looked_at_again(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair.begin()
    monkeypatch.setattr(manifest_module, "_RACY_NS", 10**12)
    (pair.root / "a/x").write_text("1\n")
    assert pair.names() == {"a/x"}
    monkeypatch.setattr(manifest_module, "_RACY_NS", 0)
    os.link(pair.root / "a/x", pair.outside / "x")  # of which the kernel tells nothing
    (pair.outside / "x").write_text("2\n")
    assert pair.names() == {"a/x"}


LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p


@pytest.mark.parametrize("opened", ["before anybody watches", "later"])
def test_a_file_written_through_memory_is_seen(pair: Pair, opened: str) -> None:
    path = pair.root / "a/x"
    path.write_bytes(bytes(mmap.PAGESIZE))
    if opened == "later":
        pair.begin()
    descriptor = os.open(path, os.O_RDWR)
    if opened == "later":
        assert pair.see() == []
    else:
        pair.begin()
    at = ctypes.c_void_p(
        LIBC.mmap(None, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED,
                  descriptor, ctypes.c_long(0))
    )  # fmt: skip
    for number in range(1, 4):
        ctypes.memset(at, number, 10)
        LIBC.msync(at, mmap.PAGESIZE, 4)  # so that the next write gives it a new time
        assert pair.names() == {"a/x"}
        if number == 1:
            os.close(descriptor)
    LIBC.munmap(at, mmap.PAGESIZE)
    assert pair.see() == []


def test_directories_that_change_places_are_seen_with_all_below(pair: Pair) -> None:
    pair.begin()
    (pair.root / "a").rename(pair.root / "t")
    (pair.root / "b").rename(pair.root / "a")
    (pair.root / "t").rename(pair.root / "b")
    assert {"a/x", "a/s/x", "b/x", "b/s/x"} <= pair.names()
    (pair.root / "a/s/x").write_text("in what was b\n")
    assert pair.names() == {"a/s/x"}
    (pair.root / "b/s/x").write_text("in what was a\n")
    assert pair.names() == {"b/s/x"}


def test_a_directory_from_outside_in_the_place_of_one_is_seen(pair: Pair) -> None:
    (pair.outside / "s").mkdir()
    (pair.outside / "s/x").write_text("another\n")
    pair.begin()
    (pair.root / "a/s").rename(pair.outside / "old")
    (pair.outside / "s").rename(pair.root / "a/s")
    (pair.outside / "old/x").write_text("no longer here\n")
    assert "a/s/x" in pair.names()
    (pair.root / "a/s/x").write_text("and again\n")
    assert pair.names() == {"a/s/x"}


def test_a_directory_made_again_is_watched_again(pair: Pair) -> None:
    pair.begin()
    for number in range(20):  # sooner or later with the same number
        shutil.rmtree(pair.root / "a/s")
        (pair.root / "a/s").mkdir()
        (pair.root / "a/s/x").write_text(f"{number}\n")
        assert "a/s/x" in pair.names()
        (pair.root / "a/s/x").write_text(f"{number} again\n")
        assert pair.names() == {"a/s/x"}


@pytest.mark.parametrize("what", ["above", "root"])
def test_another_root_is_seen(pair: Pair, what: str) -> None:
    pair.begin()
    moved: Path = getattr(pair, what)
    shutil.copytree(moved, pair.outside / "new")
    moved.rename(pair.outside / "old")
    (pair.outside / "new").rename(moved)
    (pair.root / "a/s/x").write_text("in another root\n")
    assert "a/s/x" in pair.names()
    (pair.root / "b/s/x").write_text("and again\n")
    assert pair.names() == {"b/s/x"}


def test_the_mode_of_the_root_is_seen(pair: Pair) -> None:
    pair.begin()
    pair.root.chmod(0o700)
    assert pair.names() == {"."}


def test_a_repository_made_again_in_its_place_is_seen(pair: Pair) -> None:
    (pair.root / ".git").mkdir()
    (pair.root / ".git/description").write_text("x")
    pair.begin()
    (pair.root / ".git/description").unlink()
    (pair.root / ".git/description").write_text("another")
    assert pair.names() == {".git"}


def test_more_than_the_kernel_keeps_is_seen(pair: Pair) -> None:
    pair.begin()
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    for number in range(most // 2):
        os.chmod(pair.root / ("a/x", "b/x")[number % 2], 0o600 + number % 8)  # noqa: PTH101
    os.utime(pair.root / "c/x", (1, 1))
    os.chmod(pair.root / "a/x", 0o640)  # noqa: PTH101
    for number in range(most):
        os.utime(pair.root / ("a/x", "b/x")[number % 2], (number, number))
    (pair.root / "a/s/x").write_text("after that\n")
    assert {"c/x", "a/s/x"} <= pair.names()


@pytest.mark.parametrize(
    ("name", "value"), [("_SHARE", 10**9), ("_LOCAL", frozenset()), ("_MOUNTS", Path("/nowhere"))]
)
def test_where_it_cannot_watch_everything_is_looked_at(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, name: str, value: object
) -> None:
    monkeypatch.setattr(watch_module, name, value)
    pair.watched.watch = Watch([str(pair.root)])
    assert pair.see() == []
    assert not pair.watched.watch.is_on
    (pair.root / "a/s/x").write_text("new\n")
    assert pair.names() == {"a/s/x"}


def test_what_is_mounted_below_is_looked_at(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    pair.begin()
    mounts = pair.outside / "mounts"
    place = str(pair.root / "a s").replace(" ", "\\040")
    line = f"99 1 0:99 / {place} rw - ext4 none rw\n"
    mounts.write_bytes(Path("/proc/self/mountinfo").read_bytes() + line.encode())
    monkeypatch.setattr(watch_module, "_MOUNTS", mounts)
    assert pair.see() == []
    assert not pair.watched.watch.is_on  # type: ignore[union-attr]


# ── random changes ───────────────────────────────────────────────────────────────────────────────

NAMES = (
    "top",
    "a",
    "b",
    "a/x",
    "a/y",
    "a/s",
    "a/s/x",
    "b/x",
    "b/s",
    "b/s/x",
    "c/x",
    "c/new",
    "new",
)
NAME = st.sampled_from(NAMES)


def _append(one: Path, _other: Path) -> None:
    with one.open("a") as file:
        file.write("more\n")


def _rewrite(one: Path, _other: Path) -> None:
    with one.open("r+b") as file:
        file.write(file.read()[::-1])


def _move_there_and_back(one: Path, other: Path) -> None:
    one.rename(other.with_name("t"))
    other.with_name("t").rename(one)


def _swap(one: Path, other: Path) -> None:
    one.rename(one.with_name("t"))
    other.rename(one)
    one.with_name("t").rename(other)


def _remove(one: Path, _other: Path) -> None:
    if one.is_dir():
        shutil.rmtree(one)
    else:
        one.unlink()


def _make_again(one: Path, other: Path) -> None:
    shutil.copytree(one, one.with_name("t"))
    shutil.rmtree(one)
    one.with_name("t").rename(one)


ACTS: tuple[Callable[[Path, Path], object], ...] = (
    _append, _append, _rewrite, _move_there_and_back, _swap, _remove, _make_again,
    lambda one, other: one.rename(other), lambda one, other: os.link(one, other),
    lambda one, other: one.symlink_to(other), lambda one, other: one.mkdir(),
    lambda one, other: one.chmod(0o700), lambda one, other: os.utime(one, (5, 5)),
    lambda one, other: shutil.copytree(one, other), lambda one, other: one.write_text("whole\n"),
    lambda one, other: None,
)  # fmt: skip
STEPS = st.lists(st.lists(st.tuples(st.sampled_from(ACTS), NAME, NAME), max_size=4), max_size=8)


@settings(max_examples=int(os.environ.get("UNDO_EXAMPLES", "150")), deadline=None,
          suppress_health_check=list(HealthCheck))  # fmt: skip
@given(STEPS)
def test_whatever_happens_both_see_the_same(
    tmp_path_factory: pytest.TempPathFactory, steps: list[list[tuple[Callable[[Path, Path], object], str, str]]]
) -> None:  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_module, "_RACY_NS", 0)
        directory = tmp_path_factory.mktemp("pair")
        pair = Pair(directory)
        pair.begin()
        for step in steps:
            for act, one, other in step:
                with contextlib.suppress(OSError, shutil.Error):
                    act(pair.root / one, pair.root / other)
            pair.see()
        assert pair.watched.watch is not None
        pair.watched.watch.close()
        subprocess.run(["rm", "-rf", str(directory)], check=False)
