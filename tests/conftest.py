"""Fixtures for everyone."""

import gc
import os
import signal
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.scheduler import Scheduling, WorkStealingScheduling

from tests.kit.program import Program
from tests.kit.sessions import SceneMaker

# The same examples every time, and no deadline on a busy machine; HYPOTHESIS_EXPLORE looks further.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile("explore" if os.environ.get("HYPOTHESIS_EXPLORE") else "steady")

# Whoever starts the tests in the background or with nohup has these ignored, and the programs that
# the tests start would inherit it.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

LONGEST = (
    "test_undo_two_programs.py", "test_undo_property.py", "test_undo_killed.py", "test_kill.py",
)  # fmt: skip
"""Files that begin first, so that no core waits for them in the end."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """Half as many again as there are cores: tests of the screen mostly wait for it to settle."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, (cores or 1) * 3 // 2)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config) -> Scheduling | None:
    """`-n` alone gives one process all the slow tests, which stand side by side; let others take
    from it what it has not begun."""
    return WorkStealingScheduling(config) if config.getvalue("dist") == "load" else None


def pytest_collection_finish() -> None:
    """Thousands of collected tests stay to the end: the collector need not look at them again."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name not in LONGEST)


@pytest.fixture(scope="session", autouse=True)
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where temporary directories go, and with the tests all that killed programs leave there."""
    tmp_path_factory.getbasetemp()  # stays where it was
    with (
        tempfile.TemporaryDirectory(prefix="agent-tests-", ignore_cleanup_errors=True) as directory,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("TMPDIR", directory)
        patch.setattr(tempfile, "tempdir", directory)
        yield directory


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
