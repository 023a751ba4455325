"""What all tests of the whole program share."""

import sys
from collections.abc import Iterator

import pytest

from tests.kit.program import Program
from tests.kit.warm import warm_process


@pytest.fixture(scope="session", autouse=True)
def _warm_process() -> Iterator[None]:
    """Programs get their workers from a warm process, so that not each of them loads LiteLLM."""
    if sys.platform != "linux":
        yield
        return
    with warm_process() as directory:
        Program.runtime_directory = str(directory)
        yield
        Program.runtime_directory = "/nowhere"
