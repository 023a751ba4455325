"""GitInfo: what it tells, and that nothing of the repository runs."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_cli.core.tool import ToolResult
from agent_cli.core.tool_context import ShellInfo
from agent_cli.tools import _git, git_info
from tests.kit.one_call import call_in, one_call, scene_with
from tests.kit.sessions import SceneMaker

HERMETIC: dict[str, Any] = {
    "environment": {"GIT_CONFIG_NOSYSTEM": "1"},
    "settings": {"environment": {"passed": ["GIT_CONFIG_NOSYSTEM"]}},
}


class Repository:
    """A real repository, driven by a git that reads no configuration but its own."""

    def __init__(self, path: Path, home: Path) -> None:
        self.path = path
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            **{
                f"GIT_{who}_{what}": value
                for who in ("AUTHOR", "COMMITTER")
                for what, value in (("NAME", "A"), ("EMAIL", "a@example.org"))
            },
        }
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, check: bool = True) -> str:
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.path,
            env=self._environment,
            check=check,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    def write(self, name: str, text: str = "one\n") -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def commit(self, *names: str) -> str:
        for name in names:
            self.write(name)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "more")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def repository(make_session: SceneMaker) -> Repository:
    return Repository(make_session.workspace, make_session.home)


async def ask(make_session: SceneMaker, **session: Any) -> ToolResult:
    return await one_call(make_session, "GitInfo", **{**HERMETIC, **session})


async def test_a_directory_without_a_repository_says_so(make_session: SceneMaker) -> None:
    result = await ask(make_session)
    assert result.success
    assert result.metadata == {"is_repo": False}
    assert "not in a git repository" in str(result.llm_content)


async def test_a_repository_without_commits_has_a_branch(
    make_session: SceneMaker, repository: Repository
) -> None:
    result = await ask(make_session)
    assert result.metadata["branch"] == "main"
    assert result.metadata["commit"] is None
    assert "branch: main, no commits yet" in str(result.llm_content)
    assert result.summary == "main, clean"


async def test_every_sort_of_change_is_told_apart(
    make_session: SceneMaker, repository: Repository
) -> None:
    repository.write("old name.txt", "a long enough text to be recognised\n" * 5)
    commit = repository.commit("changed.txt", "gone.txt")
    repository.write("changed.txt", "two\n")
    (repository.path / "gone.txt").unlink()
    repository.git("mv", "old name.txt", "new\nname.txt")
    repository.write("added.txt")
    repository.git("add", "added.txt")
    repository.write("new directory/a.txt")
    result = await ask(make_session)
    assert result.metadata["commit"] == commit
    assert result.metadata["status"] == {
        "modified": ["changed.txt"],
        "added": ["added.txt"],
        "deleted": ["gone.txt"],
        "renamed": ["old name.txt → new\nname.txt"],
        "untracked": ["new directory/"],
    }
    assert result.metadata["staged"] == 2
    assert result.summary == "main, 4 changed, 1 untracked"
    assert r"'old name.txt → new\nname.txt'" in str(result.llm_content)


@pytest.mark.skipif(sys.platform == "darwin", reason="such a name cannot exist there")
async def test_a_name_that_is_no_utf_8_is_spelled_out(
    make_session: SceneMaker, repository: Repository
) -> None:
    repository.write(os.fsdecode(b"caf\xe9"))
    result = await ask(make_session)
    assert result.metadata["status"]["untracked"] == ["caf\\xe9"]


async def test_conflicts_are_named(make_session: SceneMaker, repository: Repository) -> None:
    repository.commit("a.txt")
    repository.git("checkout", "-q", "-b", "other")
    repository.write("a.txt", "theirs\n")
    repository.commit()
    repository.git("checkout", "-q", "main")
    repository.write("a.txt", "ours\n")
    repository.commit()
    repository.git("merge", "-q", "other", check=False)
    result = await ask(make_session)
    assert result.metadata["counts"]["conflicted"] == 1
    assert "conflicted (1):\n  a.txt" in str(result.llm_content)


async def test_ahead_and_behind_are_counted(
    make_session: SceneMaker, repository: Repository, tmp_path: Path
) -> None:
    first = repository.commit("a.txt")
    repository.commit("b.txt")
    repository.git("remote", "add", "upstream", "https://me:hunter2@example.org/x.git")
    repository.git("update-ref", "refs/remotes/upstream/main", first)
    repository.git("config", "branch.main.remote", "upstream")
    repository.git("config", "branch.main.merge", "refs/heads/main")
    result = await ask(make_session)
    assert (result.metadata["ahead"], result.metadata["behind"]) == (1, 0)
    assert result.metadata["upstream"] == "upstream/main"
    assert result.metadata["remote"] == "https://example.org/x.git"
    assert "hunter2" not in result.model_dump_json()
    repository.git("reset", "-q", "--hard", first)
    repository.git("update-ref", "refs/remotes/upstream/main", repository.git("rev-parse", "@{1}"))
    result = await ask(make_session)
    assert (result.metadata["ahead"], result.metadata["behind"]) == (0, 1)


async def test_an_upstream_that_is_gone_is_called_so(
    make_session: SceneMaker, repository: Repository
) -> None:
    repository.commit("a.txt")
    repository.git("remote", "add", "origin", "git@example.org:x.git")
    repository.git("config", "branch.main.remote", "origin")
    repository.git("config", "branch.main.merge", "refs/heads/main")
    result = await ask(make_session)
    assert result.metadata["ahead"] is None
    assert "no longer exists" in str(result.llm_content)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://user:secret@example.org/x.git", "https://example.org/x.git"),
        ("https://ghp_0123456789@example.org:8443/x", "https://example.org:8443/x"),
        ("https://example.org/x?token=abc#y", "https://example.org/x"),
        ("ssh://git:secret@example.org/x", "ssh://git@example.org/x"),
        ("git@example.org:team/x.git", "git@example.org:team/x.git"),
        ("/srv/x.git", "/srv/x.git"),
        ("https://u:p@[broken/x", "https://[broken/x"),
    ],
)
def test_credentials_are_taken_out_of_an_address(address: str, shown: str) -> None:
    assert git_info.without_credentials(address) == shown


async def test_a_detached_head_is_told(make_session: SceneMaker, repository: Repository) -> None:
    commit = repository.commit("a.txt")
    repository.git("checkout", "-q", "--detach")
    result = await ask(make_session)
    assert result.metadata["branch"] is None
    assert result.metadata["detached"] is True
    assert f"detached HEAD at {commit[:12]}" in str(result.llm_content)


async def test_a_linked_worktree_has_its_own_branch(
    make_session: SceneMaker, tmp_path: Path
) -> None:
    (tmp_path / "main").mkdir()
    origin = Repository(tmp_path / "main", make_session.home)
    origin.commit("a.txt")
    origin.git("worktree", "add", "-q", "-b", "side", str(make_session.workspace))
    result = await ask(make_session)
    assert result.metadata["branch"] == "side"
    assert result.metadata["root"] == str(make_session.workspace)


async def test_a_workspace_inside_a_repository_sees_it(
    make_session: SceneMaker, tmp_path: Path
) -> None:
    outer = Repository(tmp_path, make_session.home)
    outer.commit("project/a.txt")
    result = await ask(make_session)
    assert result.metadata["root"] == str(tmp_path)
    assert result.metadata["branch"] == "main"


async def test_the_shells_directory_counts_if_it_is_inside(make_session: SceneMaker) -> None:
    inner = make_session.workspace / "inner"
    inner.mkdir()
    Repository(inner, make_session.home)
    scene = scene_with(make_session, "GitInfo", **HERMETIC)
    scene.session.state(ShellInfo).directory = str(inner)
    assert (await call_in(scene)).metadata["root"] == str(inner)


async def test_the_shells_directory_outside_the_workspace_is_not_looked_at(
    make_session: SceneMaker, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    Repository(tmp_path / "elsewhere", make_session.home)
    scene = scene_with(make_session, "GitInfo", **HERMETIC)
    scene.session.state(ShellInfo).directory = str(tmp_path / "elsewhere")
    assert (await call_in(scene)).metadata == {"is_repo": False}


async def test_without_git_the_message_says_so(
    make_session: SceneMaker, repository: Repository, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    environment = {**HERMETIC["environment"], "PATH": str(tmp_path / "empty")}
    result = await ask(make_session, environment=environment)
    assert not result.success
    assert "git is not installed" in str(result.llm_content)


async def test_a_broken_repository_is_an_error_with_gits_reason(
    make_session: SceneMaker, repository: Repository
) -> None:
    repository.write(".git/config", "[core\n")
    result = await ask(make_session)
    assert not result.success
    assert "bad config line 1" in str(result.llm_content)


async def test_many_files_are_counted_but_not_all_named(
    make_session: SceneMaker, repository: Repository
) -> None:
    for number in range(300):
        repository.write(f"{number:03}.txt")
    result = await ask(make_session)
    assert result.metadata["counts"]["untracked"] == 300
    assert len(result.metadata["status"]["untracked"]) == 200
    assert "untracked (300):" in str(result.llm_content)
    assert "… 260 more" in str(result.llm_content)


async def test_output_beyond_bounds_is_cut_at_a_whole_entry(
    make_session: SceneMaker, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(300):
        repository.write(f"{number:03}.txt")
    monkeypatch.setattr(_git, "MAX_OUTPUT_BYTES", 1000)
    result = await ask(make_session)
    named = result.metadata["status"]["untracked"]
    assert 0 < len(named) < 150
    assert all(len(name) == len("000.txt") for name in named)
    assert "more changes than listed" in str(result.llm_content)


async def test_untracked_files_that_take_too_long_are_left_out(
    make_session: SceneMaker, repository: Repository, tmp_path: Path
) -> None:
    repository.commit("a.txt")
    repository.write("a.txt", "two\n")
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text(
        '#!/bin/sh\ncase "$*" in *untracked-files=normal*) exec sleep 1000;; esac\n'
        'PATH="${PATH#*:}" exec git "$@"\n'
    )
    slow.chmod(0o755)
    path = f"{slow.parent}:/usr/local/bin:/usr/bin:/bin"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(git_info, "TIMEOUT_S", 0.3)
        result = await ask(make_session, environment={**HERMETIC["environment"], "PATH": path})
    assert result.metadata["counts"]["modified"] == 1
    assert "untracked files were not listed" in str(result.llm_content)


async def test_a_work_tree_somewhere_else_is_not_walked(
    make_session: SceneMaker, repository: Repository, tmp_path: Path
) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "diary.txt").write_text("dear")
    repository.git("config", "core.worktree", str(tmp_path))
    result = await ask(make_session)
    assert not result.success
    assert "elsewhere" in str(result.llm_content)
    assert "diary" not in result.model_dump_json()


Trap = Callable[[Repository, str], None]


def _fsmonitor(repository: Repository, canary: str) -> None:
    repository.commit("a.txt")
    repository.git("config", "core.fsmonitor", canary)


def _hook(repository: Repository, canary: str) -> None:
    path = repository.path / "a.txt"
    repository.commit("a.txt")
    os.utime(path, (1, 1))  # so that the index wants refreshing
    hook = repository.path / ".git/hooks/post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.symlink_to(canary)


def _filtered(name: str, key: str) -> Trap:
    def trap(repository: Repository, canary: str) -> None:
        repository.write(".gitattributes", f"*.txt filter={name}\n")
        repository.commit("a.txt")
        repository.git("config", f"filter.{name}.{key}", canary)
        repository.git("config", f"filter.{name}.required", "true")
        repository.write("a.txt", "two\n")

    return trap


def _filter_in_an_included_file(repository: Repository, canary: str) -> None:
    _filtered("evil", "clean")(repository, canary)
    (repository.path / ".git/config").rename(repository.path / ".git/more")
    repository.git("init", "-q")
    repository.git("config", "include.path", "more")


def _nameless_filter(repository: Repository, canary: str) -> None:
    repository.write(".gitattributes", "*.txt filter=\n")
    repository.commit("a.txt")
    with (repository.path / ".git/config").open("a") as config:
        config.write(f'[filter ""]\n\tclean = {canary}\n')
    repository.write("a.txt", "two\n")


def _filter_named_in_latin_1(repository: Repository, canary: str) -> None:
    (repository.path / ".gitattributes").write_bytes(b"*.txt filter=caf\xe9\n")
    repository.commit("a.txt")
    with (repository.path / ".git/config").open("ab") as config:
        config.write(b'[filter "caf\xe9"]\n\tclean = ' + canary.encode() + b"\n")
    repository.write("a.txt", "two\n")


def _submodule(repository: Repository, canary: str) -> None:
    inner = repository.path / "inner"
    inner.mkdir()
    nested = Repository(inner, repository.path)
    nested.commit("a.txt")
    repository.commit("b.txt")
    nested.git("config", "core.fsmonitor", canary)


def _missing_object(repository: Repository, canary: str) -> None:
    repository.commit("a.txt")
    for key, value in (
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", f"ext::{canary}"),
        ("protocol.ext.allow", "always"),
    ):
        repository.git("config", key, value)
    tree = repository.git("rev-parse", "HEAD^{tree}")
    (repository.path / ".git/objects" / tree[:2] / tree[2:]).unlink()


_oddly_filtered = _filtered("odd=na.me", "clean")
REFUSED = (_missing_object, _oddly_filtered, _filter_named_in_latin_1)


@pytest.mark.parametrize(
    "trap",
    [
        pytest.param(_fsmonitor, id="fsmonitor"),
        pytest.param(_hook, id="hook"),
        pytest.param(_filtered("evil", "clean"), id="clean filter"),
        pytest.param(_filtered("evil", "process"), id="filter process"),
        pytest.param(_filtered("o.D", "clean"), id="filter with a dot"),
        pytest.param(_oddly_filtered, id="filter with an odd name"),
        pytest.param(_filter_in_an_included_file, id="filter in an included file"),
        pytest.param(_nameless_filter, id="nameless filter"),
        pytest.param(_filter_named_in_latin_1, id="filter named in Latin-1"),
        pytest.param(_submodule, id="submodule"),
        pytest.param(_missing_object, id="missing object"),
    ],
)
async def test_nothing_of_the_repository_runs(
    trap: Trap, make_session: SceneMaker, repository: Repository, tmp_path: Path
) -> None:
    marker, canary = tmp_path / "it ran", tmp_path / "canary"
    canary.write_text(f"#!/bin/sh\n: > '{marker}'\n")
    canary.chmod(0o755)
    trap(repository, str(canary))
    marker.unlink(missing_ok=True)  # some traps go off while they are laid
    result = await ask(make_session)
    assert not marker.exists()
    assert result.success is (trap not in REFUSED)
    repository.git("status", check=False)
    assert marker.exists(), "the trap must be one for plain git"


async def test_pagers_and_aliases_of_the_repository_do_not_run(
    make_session: SceneMaker, repository: Repository, tmp_path: Path
) -> None:
    marker, canary = tmp_path / "it ran", tmp_path / "canary"
    canary.write_text(f"#!/bin/sh\n: > '{marker}'\n")
    canary.chmod(0o755)
    repository.commit("a.txt")
    for key in ("core.pager", "pager.status", "pager.config", "diff.external", "core.sshCommand"):
        repository.git("config", key, str(canary))
    for alias in ("status", "rev-parse", "config"):
        repository.git("config", f"alias.{alias}", f"!{canary}")
    result = await ask(make_session)
    assert result.success
    assert not marker.exists()


async def test_a_filter_that_was_not_run_is_mentioned(
    make_session: SceneMaker, repository: Repository
) -> None:
    _filtered("lfs", "clean")(repository, "false")
    result = await ask(make_session)
    assert "content filters (lfs) were not run" in str(result.llm_content)
    assert result.metadata["counts"]["modified"] == 1
