"""Fixtures for everyone."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.kit.program import Program
from tests.kit.sessions import SceneMaker


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
