"""A repository that names helpers is found out without running one of them."""

import os
import subprocess
from pathlib import Path

import pytest

from agent_cli.safety.git_probe import git_is_plain


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"]
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, env=environment, capture_output=True
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    (tmp_path / "a").write_text("x")
    git(tmp_path, "add", "a")
    git(tmp_path, "commit", "-qm", "x")
    return tmp_path


def test_a_fresh_repository_is_plain(repository: Path) -> None:
    assert git_is_plain(str(repository)) == (True, ())
    (repository / "sub").mkdir()
    assert git_is_plain(str(repository / "sub")) == (True, ())


def test_no_repository_is_plain(tmp_path: Path) -> None:
    assert git_is_plain(str(tmp_path))[0]


@pytest.mark.parametrize(
    "key",
    [
        "core.fsmonitor", "core.pager", "core.hooksPath", "core.sshCommand", "diff.external",
        "diff.x.textconv", "diff.x.command", "filter.x.clean", "pager.log", "alias.st",
        "gpg.program", "include.path", "includeIf.gitdir:/.path", "log.showSignature",
        "Core.FSMonitor", "remote.origin.promisor",
    ],
)  # fmt: skip
def test_a_helper_is_named_and_not_run(repository: Path, key: str) -> None:
    git(repository, "config", key, f"touch {repository}/ran")
    plain, reasons = git_is_plain(str(repository))
    assert not plain and reasons
    assert not (repository / "ran").exists()


def test_a_changed_configuration_is_read_again(repository: Path) -> None:
    assert git_is_plain(str(repository))[0]
    git(repository, "config", "core.pager", "x")
    assert not git_is_plain(str(repository))[0]
    git(repository, "config", "--unset", "core.pager")
    assert git_is_plain(str(repository))[0]


def test_ordinary_settings_and_a_switched_off_monitor_are_plain(repository: Path) -> None:
    git(repository, "config", "user.name", "x")
    git(repository, "config", "core.fsmonitor", "false")
    git(repository, "config", "remote.origin.url", "https://example.org/x")
    assert git_is_plain(str(repository))[0]


def test_a_hook_that_reading_would_run_is_found(repository: Path) -> None:
    hook = repository / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\n")
    hook.chmod(0o755)
    assert not git_is_plain(str(repository))[0]


def test_a_repository_inside_counts_as_well(repository: Path, tmp_path_factory) -> None:
    inner = repository / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    git(inner, "commit", "-q", "--allow-empty", "-m", "x")
    git(repository, "add", "inner")
    assert git_is_plain(str(repository))[0]
    git(inner, "config", "core.fsmonitor", "./x.sh")
    (repository / "b").write_text("x")
    git(repository, "add", "b")
    assert not git_is_plain(str(repository))[0]


def test_a_buried_bare_repository_is_looked_at(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare")
    git(tmp_path, "config", "core.fsmonitor", "./x.sh")
    assert not git_is_plain(str(tmp_path))[0]
