"""Tests of a part that this machine lacks."""

import os
from typing import NoReturn

import pytest


def no_bubblewrap(reason: str) -> NoReturn:
    """Skip on a developer's machine; in CI the strongest sandbox must not go untested unseen."""
    if os.environ.get("CI") == "true" and not os.environ.get("AGENT_TEST_NO_BWRAP"):
        pytest.fail(f"{reason} Install bubblewrap, or set AGENT_TEST_NO_BWRAP=1.")
    pytest.skip(reason)
