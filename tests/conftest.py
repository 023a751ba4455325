"""Fixtures for everyone."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.kit.program import Program
from tests.kit.sessions import SceneMaker

# The same examples every time, and no deadline on a busy machine; HYPOTHESIS_EXPLORE looks further.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile("explore" if os.environ.get("HYPOTHESIS_EXPLORE") else "steady")


@pytest.fixture
async def make_session(tmp_path: Path) -> AsyncIterator[SceneMaker]:
    """Makes sessions with a scripted model: `make_session({"text": "hi"}, files={…})`."""
    maker = SceneMaker(tmp_path)
    yield maker
    await maker.close()


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """The real `agent`, in a directory of its own."""
    return Program(tmp_path)
