"""The language is found without loading what reads all settings."""

import subprocess
import sys
from pathlib import Path

import pytest

from agent_cli.config.directories import language_setting
from agent_cli.config.user_directories import Directories


@pytest.mark.parametrize(
    ("environment", "config", "state"),
    [
        ({"HOME": "/h"}, "/h/.config/agent", "/h/.local/state/agent"),
        ({"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"}, "/c/agent", "/s/agent"),
        ({"HOME": "/h", "XDG_CONFIG_HOME": "/c", "AGENT_HOME": "/a"}, "/a", "/a/state"),
    ],
)
def test_our_directories(environment: dict[str, str], config: str, state: str) -> None:
    assert Directories.of(environment) == Directories(Path(config), Path(state))


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ('language = "zh"\n', "zh"),
        ('ui = "inline"\n  language="zh"', "zh"),
        ('# language = "zh"\n', "auto"),
        ('theme = "language"\n', "auto"),
        ('[web]\nlanguage = "zh"\n', "auto"),
        ("language = \n", "auto"),
    ],
)
def test_the_users_file_says_the_language(tmp_path: Path, text: str, language: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    home = {"AGENT_HOME": str(tmp_path)}
    assert language_setting(home) == language
    assert language_setting({**home, "AGENT_LANGUAGE": "en"}) == "en"
    assert language_setting({"AGENT_HOME": str(tmp_path / "none")}) == "auto"


def test_the_help_loads_nothing_slow_to_find_it(tmp_path: Path) -> None:
    script = (
        "import atexit, sys; from agent_cli.cli import run\n"
        "atexit.register(lambda: print(*sys.modules))\n"
        "run(['--help'])"
    )
    env = {"AGENT_HOME": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-S", "-c", script], env=env, capture_output=True, text=True, check=True
    )
    assert not {"tomllib", "pathlib", "dataclasses", "typing"} & set(done.stdout.split())
