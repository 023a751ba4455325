"""Small things done to text."""

import pytest

from agent_cli.lib.text import size


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (1450, "1.4 kB"),
        (14_200_000, "14 MB"),
        (999_600, "1.0 MB"),
        (3_000_000_000, "3.0 GB"),
        (5_000_000_000_000_000, "5,000 TB"),
    ],
)
def test_sizes_are_said_in_two_digits(count: int, said: str) -> None:
    assert size(count) == said
