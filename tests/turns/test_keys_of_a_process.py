"""Keys leave the environment with the first session, and serve the next ones all the same."""

import subprocess
import sys
from pathlib import Path

from tests.kit.program import ROOT

SCRIPT = """
import asyncio, os, pathlib
from agent_cli.config.schema import Settings
from agent_cli.launch_options import LaunchOptions
from agent_cli.runtime import open_session

async def main():
    for _ in range(2):
        options = LaunchOptions(cwd=pathlib.Path.cwd(), trust=True)
        session = open_session(options, Settings(model="openai/gpt-4o"))
        print(session.model, "OPENAI_API_KEY" in os.environ)
        await session.close()

asyncio.run(main())
"""


def test_the_second_session_of_a_process_still_has_the_keys(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=tmp_path,
        env={
            "PYTHONPATH": str(ROOT),
            "HOME": str(tmp_path),
            "PATH": "/usr/bin:/bin",
            "OPENAI_API_KEY": "sk-given-0123456789",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines() == ["openai/gpt-4o False"] * 2, done.stderr
