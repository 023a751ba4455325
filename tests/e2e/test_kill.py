"""Killed at any moment, the program loses nothing that was shown and leaves no file half written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.program import ROOT

KILLS = int(os.environ.get("KILLS", "60"))
PROCESSES = 3
"""Each is a test of its own, so that they run side by side."""


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(PROCESSES))
def test_a_kill_at_any_moment_loses_nothing_that_was_shown(tmp_path: Path, seed: int) -> None:
    trials = [sys.executable, "-m", "tests.kit.kill_trials"]
    done = subprocess.run(
        [*trials, str(tmp_path / "trials"), str(seed), str(KILLS // PROCESSES)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert f"{KILLS // PROCESSES} kills survived" in done.stdout
