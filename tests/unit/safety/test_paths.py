"""Containment, resolution, and the bond between what was approved and what is written."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_cli.lib.files import NotRegularFile
from agent_cli.safety.paths import (
    PathProblem,
    Workspace,
    contains,
    fingerprint,
    still_same,
)
from agent_cli.safety.reasons import because


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "ws"
    (root / "src").mkdir(parents=True)
    (root / "a.txt").write_text("hello\n")
    (root.parent / "out").mkdir()
    (root.parent / "out" / "s").write_text("outside")
    return root


@pytest.fixture
def workspace(root: Path) -> Workspace:
    return Workspace(str(root), home=str(root.parent / "home"), own=(str(root.parent / "state"),))


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("a.txt", True),
        (".", True),
        ("src/../a.txt", True),
        ("none/deep/new", True),
        ("..", False),
        ("../ws-evil/x", False),
        ("../ws/a.txt", True),
        ("/", False),
        ("//etc/passwd", False),
        ("~", False),
        ("~/x", False),
        ("~other/x", True),
        ("./~", True),
        ("$HOME/x", True),
        ("a\nb", True),
    ],
)
def test_inside_means_below_the_root(workspace: Workspace, path: str, inside: bool) -> None:
    assert workspace.resolve(path).is_inside == inside


def test_the_way_back_from_a_linked_directory_starts_at_its_target(
    workspace: Workspace, root: Path
) -> None:
    (root / "d").symlink_to(root.parent / "out")
    found = workspace.resolve("d/../out/s")
    assert found.lexical == str(root / "out" / "s")
    assert found.real == str(root.parent / "out" / "s")
    assert not found.is_inside
    assert found.via_link


def test_a_circle_behind_a_missing_directory_is_found(workspace: Workspace, root: Path) -> None:
    (root / "x").symlink_to("x")
    with pytest.raises(PathProblem, match="circle"):
        workspace.resolve("missing/../x/y")


def test_a_dangling_link_leads_to_its_target(workspace: Workspace, root: Path) -> None:
    (root / "l").symlink_to(root.parent / "out" / "new")
    found = workspace.resolve("l")
    assert found.real == str(root.parent / "out" / "new")
    assert not found.exists
    assert "outside" in " ".join(map(str, found.reasons))


def test_added_directories_belong_to_the_workspace(root: Path) -> None:
    workspace = Workspace(str(root), added=(str(root.parent / "out"),))
    assert workspace.resolve("../out/s").is_inside


def test_the_root_stays_where_its_link_led_at_the_start(root: Path) -> None:
    link = root.parent / "link"
    link.symlink_to(root)
    workspace = Workspace(str(link))
    link.unlink()
    link.symlink_to(root.parent / "out")
    assert workspace.root == str(root)
    assert not workspace.resolve(str(link / "s")).is_inside


def test_a_relative_path_starts_at_the_given_directory(workspace: Workspace, root: Path) -> None:
    assert workspace.resolve("../a.txt", cwd=str(root / "src")).real == str(root / "a.txt")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "empty"),
        ("  ", "empty"),
        ("a\0b", "NUL"),
        ("a\ud800", "surrogate"),
        ("n" * 256, "too long"),
        ("é" * 200, "too long"),
        ("d/" * 3000, "too long"),
        ("a.txt/b", "not a directory"),
    ],
)
def test_paths_that_mean_nothing_are_explained(
    workspace: Workspace, path: str, reason: str
) -> None:
    with pytest.raises(PathProblem, match=reason) as caught:
        workspace.resolve(path)
    assert len(str(caught.value)) < 400


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(alphabet=st.sampled_from("a./~$ \\\n\0é\ud800sd"), max_size=30) | st.text())
def test_any_text_is_resolved_or_explained(workspace: Workspace, path: str) -> None:
    try:
        found = workspace.resolve(path)
    except PathProblem:
        return
    real = Path(found.real)
    assert real.is_absolute()
    assert found.is_inside == (Path(workspace.root) in (real, *real.parents))
    workspace.facts(found)


def test_a_prefix_of_a_name_contains_nothing() -> None:
    assert contains("/srv/proj", "/srv/proj/a")
    assert contains("/", "/srv")
    assert not contains("/srv/proj", "/srv/proj-evil")


def test_facts_look_at_the_link_and_at_its_target(workspace: Workspace, root: Path) -> None:
    (root / ".env").write_text("A=b")
    (root / "notes.txt").symlink_to(".env")
    (root / "id_rsa").symlink_to("a.txt")
    for name in ("notes.txt", "id_rsa", ".ENV"):
        assert workspace.facts(workspace.resolve(name)).secret
    assert not workspace.facts(workspace.resolve("a.txt")).secret


@pytest.mark.parametrize("path", ["../state/log", "../State/log", "~/.config/agent/x", ".agent/x"])
def test_the_agents_own_directories_are_known(workspace: Workspace, path: str) -> None:
    assert workspace.facts(workspace.resolve(path)).own


@pytest.mark.parametrize("path", ["/dev/sda", "/dev/null", "/proc/self/mem", "/sys/x", "//dev/x"])
def test_places_of_the_kernel_are_special(workspace: Workspace, path: str) -> None:
    assert workspace.facts(workspace.resolve(path)).special


def test_a_pipe_is_special_and_a_directory_is_not(workspace: Workspace, root: Path) -> None:
    os.mkfifo(root / "p")
    assert workspace.facts(workspace.resolve("p")).special == because("a_named_pipe")
    assert workspace.facts(workspace.resolve("src")).special is None


def test_a_file_with_a_second_name_says_so(workspace: Workspace, root: Path) -> None:
    (root / "h").hardlink_to(root.parent / "out" / "s")
    assert "2 names" in " ".join(map(str, workspace.resolve("h").reasons))


def test_what_was_approved_and_did_not_change_is_the_same(root: Path) -> None:
    for path in (root / "a.txt", root / "new.txt", root / "no" / "such" / "dir" / "x"):
        assert still_same(fingerprint(str(path))) is None


def changes_content(root: Path) -> None:
    (root / "src" / "f").write_text("other")


def changes_content_secretly(root: Path) -> None:
    before = (root / "src" / "f").stat()
    (root / "src" / "f").write_text("F")
    os.utime(root / "src" / "f", ns=(before.st_atime_ns, before.st_mtime_ns))


def removes_it(root: Path) -> None:
    (root / "src" / "f").unlink()


def links_it_away(root: Path) -> None:
    removes_it(root)
    (root / "src" / "f").symlink_to(root.parent / "out" / "s")


def links_its_directory_away(root: Path) -> None:
    (root / "src").rename(root / "old")
    (root / "src").symlink_to(root.parent / "out")


def exchanges_its_directory(root: Path) -> None:
    (root / "src").rename(root / "old")
    (root / "src").mkdir()
    (root / "old" / "f").rename(root / "src" / "f")


def makes_it_a_pipe(root: Path) -> None:
    removes_it(root)
    os.mkfifo(root / "src" / "f")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (changes_content, "changed on disk"),
        (changes_content_secretly, "changed on disk"),
        (removes_it, "deleted"),
        (links_it_away, "leads to"),
        (links_its_directory_away, "leads to"),
        (exchanges_its_directory, "replaced"),
        (makes_it_a_pipe, "named pipe"),
    ],
)
def test_a_change_after_the_answer_is_noticed(
    root: Path, change: Callable[[Path], None], reason: str
) -> None:
    (root / "src" / "f").write_text("f")
    approved = fingerprint(str(root / "src" / "f"))
    change(root)
    assert reason in str(still_same(approved))


def test_a_file_that_appears_after_the_answer_is_noticed(root: Path) -> None:
    approved = fingerprint(str(root / "src" / "new"))
    (root / "src" / "new").write_text("")
    assert "created" in str(still_same(approved))


def test_a_missing_directory_that_becomes_a_link_is_noticed(root: Path) -> None:
    approved = fingerprint(str(root / "d" / "new"))
    (root / "d").symlink_to(root.parent / "out")
    assert "leads to" in str(still_same(approved))


def test_only_regular_files_have_a_fingerprint(root: Path) -> None:
    with pytest.raises(NotRegularFile):
        fingerprint(str(root / "src"))
