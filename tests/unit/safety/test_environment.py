"""Children inherit nothing that was not let through."""

import os
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.safety.environment import child_environment, looks_secret
from agent_cli.safety.tokens import words

GITHUB = "ghp_" + "a1B2" * 9


def test_ordinary_variables_reach_a_child() -> None:
    base = {"HOME": "/home/u", "LANG": "C.UTF-8", "LC_TIME": "de_DE", "USER": "u", "TZ": "UTC"}
    child = child_environment(base)
    assert base.items() <= child.items()


def test_unknown_variables_do_not_reach_a_child() -> None:
    assert "EDITOR_THEME" not in child_environment({"EDITOR_THEME": "dark"})


@pytest.mark.parametrize(
    "name",
    sorted(
        words("""
            LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES BASH_ENV ENV PROMPT_COMMAND PYTHONPATH
            PYTHONSTARTUP NODE_OPTIONS GIT_SSH_COMMAND GIT_EXTERNAL_DIFF RIPGREP_CONFIG_PATH
            LESSOPEN BASH_FUNC_ls%% IFS CDPATH SHELLOPTS PS4 OPENAI_API_KEY
        """)
    ),
)
@pytest.mark.parametrize("passed", [(), ("*",)])
def test_variables_that_change_programs_or_hold_keys_are_dropped(
    name: str, passed: tuple[str, ...]
) -> None:
    child = child_environment({name: "/evil/value"}, passed=passed)
    assert "/evil/value" not in child.values()


def test_the_user_can_name_a_secret_to_let_it_through() -> None:
    base = {"GITHUB_TOKEN": GITHUB, "OTHER_TOKEN": GITHUB}
    child = child_environment(base, passed=["GITHUB_TOKEN"])
    assert child["GITHUB_TOKEN"] == GITHUB
    assert "OTHER_TOKEN" not in child


def test_a_pattern_lets_only_harmless_variables_through() -> None:
    base = {"CI_STAGE": "test", "CI_TOKEN": "abcdefgh", "CI_NOTE": f"use {GITHUB}"}
    child = child_environment(base, passed=["CI_*"])
    assert child["CI_STAGE"] == "test"
    assert not {"CI_TOKEN", "CI_NOTE"} & child.keys()


@pytest.mark.parametrize("name", ["BASH_ENV", "BASH_FUNC_ls%%", "IFS", "PROMPT_COMMAND"])
def test_nobody_can_change_what_the_shell_makes_of_a_command(name: str) -> None:
    child = child_environment({name: "x"}, passed=[name], extra={name: "x"})
    assert name not in child


def test_programs_do_not_wait_for_a_person() -> None:
    child = child_environment({"PAGER": "less", "TERM": "xterm-256color", "GIT_PAGER": "delta"})
    assert child["TERM"] == "dumb"
    assert child["PAGER"] == child["GIT_PAGER"] == "cat"
    assert child["GIT_TERMINAL_PROMPT"] == child["GIT_OPTIONAL_LOCKS"] == "0"


def test_git_helpers_of_a_repository_are_overridden() -> None:
    child = child_environment({"GIT_CONFIG_COUNT": "9"}, passed=["GIT_CONFIG_COUNT"])
    settings = {
        child[f"GIT_CONFIG_KEY_{n}"]: child[f"GIT_CONFIG_VALUE_{n}"]
        for n in range(int(child["GIT_CONFIG_COUNT"]))
    }
    assert settings == {
        "core.fsmonitor": "false",
        "core.pager": "cat",
        "safe.bareRepository": "explicit",
    }


def test_the_caller_has_the_last_word() -> None:
    child = child_environment({}, extra={"AGENT_CALL_ID": "7", "TERM": "xterm"})
    assert child["AGENT_CALL_ID"] == "7"
    assert child["TERM"] == "xterm"


def test_the_search_path_leaves_out_the_workspace_and_relative_entries(tmp_path: Path) -> None:
    workspace = tmp_path / "ws"
    (workspace / "bin").mkdir(parents=True)
    (tmp_path / "tools").symlink_to(workspace / "bin")
    twin = f"{workspace}-tools"
    entries = ["", ".", "bin", "~/bin", "/usr/bin", str(workspace / "bin"), twin, "/usr/bin"]
    path = os.pathsep.join([*entries, str(tmp_path / "tools")])
    child = child_environment({"PATH": path}, workspace=str(workspace))
    assert child["PATH"].split(os.pathsep) == ["/usr/bin", twin]


@pytest.mark.parametrize("path", ["", ".:bin"])
def test_an_empty_search_path_becomes_the_usual_one(path: str) -> None:
    assert "/usr/bin" in child_environment({"PATH": path})["PATH"].split(os.pathsep)


def test_a_toolchain_inside_the_workspace_is_not_used(tmp_path: Path) -> None:
    base = {"CARGO_HOME": str(tmp_path / "cargo"), "JAVA_HOME": "/usr/lib/jvm", "GOPATH": "go"}
    child = child_environment(base, workspace=str(tmp_path))
    assert child["JAVA_HOME"] == "/usr/lib/jvm"
    assert not {"CARGO_HOME", "GOPATH"} & child.keys()


def test_a_proxy_is_kept_unless_it_carries_a_password() -> None:
    base = {"HTTPS_PROXY": "http://u:hunter2@proxy:3128", "http_proxy": "http://proxy:3128"}
    child = child_environment(base)
    assert child["http_proxy"] == "http://proxy:3128"
    assert "HTTPS_PROXY" not in child


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPENAI_API_KEY", "abc-defghi"),
        ("npm_config__authToken", "abcdefgh"),
        ("MYPASSWORD", "abcdefgh"),
        ("dbPassword", "abcdefgh"),
        ("PGPASSWORD", "abcdefgh"),
        ("AWS_ACCESS_KEY_ID", "abcdefgh"),
        ("INNOCENT", GITHUB),
        ("DATABASE_URL", "postgres://u:p4ss@db/x"),
        ("BLOB", "-----BEGIN PRIVATE KEY-----\nabc"),
    ],
)
def test_secrets_are_recognised_by_name_or_value(name: str, value: str) -> None:
    assert looks_secret(name, value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PWD", "/home/u/project"),
        ("MAX_TOKENS", "4096"),
        ("AUTH", ""),
        ("COLORTERM", "truecolor"),
        ("EDITOR", "vim"),
        ("SSH_AUTH_SOCK", "/run/ssh"),
        ("GIT_COMMIT", "8de226fb1d960fd2614916f46b341b09a4999123"),
    ],
)
def test_ordinary_variables_are_not_taken_for_secrets(name: str, value: str) -> None:
    assert not looks_secret(name, value)


NAMES = st.text(string.ascii_uppercase + "_", min_size=1, max_size=12)


@given(st.dictionaries(NAMES, st.text(max_size=20)), st.lists(NAMES, max_size=3))
def test_whatever_is_inherited_was_kept_or_named(base: dict[str, str], passed: list[str]) -> None:
    bare = child_environment({})
    child = child_environment(base, passed=passed)
    for name in child.keys() - bare.keys():
        assert name in passed or not looks_secret(name, child[name])
