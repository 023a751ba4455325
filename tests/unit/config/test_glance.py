"""What is known of the look before all settings are read."""

from pathlib import Path

import pytest

from agent_cli.config.glance import EarlySettings, glance


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"AGENT_HOME": str(tmp_path)}


def test_without_a_file_nothing_is_said(home: dict[str, str]) -> None:
    assert glance(home) == EarlySettings()


def test_the_file_and_then_the_environment_count(home: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('theme = "nord"\nreduced_motion = true\n')
    assert glance(home) == EarlySettings("nord", reduced_motion=True)
    assert glance({**home, "AGENT_THEME": "gruvbox"}) == EarlySettings(
        "gruvbox", reduced_motion=True
    )
    assert glance({**home, "AGENT_REDUCED_MOTION": "false"}) == EarlySettings("nord")


@pytest.mark.parametrize("text", ["theme = ", "theme = 7\nreduced_motion = 'x'", "[theme]\na = 1"])
def test_what_is_wrong_in_the_file_is_left_to_others(
    text: str, home: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "config.toml").write_text(text)
    assert glance(home).reduced_motion is False
