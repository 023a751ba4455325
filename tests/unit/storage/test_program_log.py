"""The program's own log."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_said_once_and_without_a_traceback() -> None:
    script = (
        "import logging\n"
        "from pathlib import Path\n"
        "from agent_cli.storage.program_log import start_log\n"
        "start_log(Path('/dev/full'))\n"
        "for _ in range(100): logging.getLogger('agent_cli.test').warning('hello')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stderr.count("\n") == 1
    assert "No space left on device" in done.stderr
