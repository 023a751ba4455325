"""Moments in words."""

import pytest

from agent_cli.lib.dates import ago

DAY = 86_400


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "just now"),
        (59, "just now"),
        (60, "1 minute ago"),
        (7199, "1 hour ago"),
        (2 * DAY, "2 days ago"),
        (13 * DAY, "13 days ago"),
    ],
)
def test_how_long_ago(seconds: float, words: str) -> None:
    assert ago(1e9 - seconds, 1e9) == words


def test_after_two_weeks_it_is_a_date() -> None:
    assert ago(1e9, 1e9 + 14 * DAY).startswith("2001-09-")
