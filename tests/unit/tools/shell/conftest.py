"""Fixtures for the tests of single tools."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.kit.shells import Bench


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """A workspace with the shell tools on it."""
    made = Bench(tmp_path)
    yield made
    await made.close()
