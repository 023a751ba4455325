"""A warm process for tests, so that not each of them waits for LiteLLM to load."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent_cli.models.warm_client import warm_process_id
from tests.kit.program import ROOT, wait_until


@contextmanager
def warm_process(model: str = "openai/gpt-4o") -> Iterator[Path]:
    """Runs one; yields the runtime directory in which programs find it."""
    with tempfile.TemporaryDirectory(prefix="warm-") as directory:
        environment = {
            "XDG_RUNTIME_DIR": directory,
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": str(ROOT),
        }
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "agent_cli.models.warm_process", model, "60", "0"],
            env=environment, cwd="/",
        )  # fmt: skip
        try:
            with found_in(Path(directory)):
                wait_until(lambda: warm_process_id() == process.pid)
            yield Path(directory)
        finally:
            process.kill()
            process.wait()


@contextmanager
def found_in(directory: Path) -> Iterator[None]:
    """Lets this process find the warm process there."""
    before = os.environ.get("XDG_RUNTIME_DIR")
    os.environ["XDG_RUNTIME_DIR"] = str(directory)
    try:
        yield
    finally:
        if before is None:
            del os.environ["XDG_RUNTIME_DIR"]
        else:
            os.environ["XDG_RUNTIME_DIR"] = before
