"""The real program as a person or a script starts it."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.kit.local_servers import NO_SERVERS

AGENT = str(Path(sys.executable).parent / "agent")
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Done:
    """How a run ended."""

    code: int
    out: str
    err: str

    @property
    def events(self) -> list[dict[str, Any]]:
        """Standard output as JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]


class Program:
    """Runs `agent` in a directory and a home of its own."""

    runtime_directory = "/nowhere"
    """Where programs find a warm process, if tests have started one."""

    def __init__(self, directory: Path) -> None:
        self.workspace = directory / "project"
        self.home = directory / "home"
        self.workspace.mkdir()
        self.home.mkdir()

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """What the program sees: nothing of the machine's own settings or keys."""
        return {
            "HOME": str(self.home),
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TMPDIR": tempfile.gettempdir(),
            "AGENT_LOCAL_PORTS": NO_SERVERS,
            "XDG_RUNTIME_DIR": self.runtime_directory,
            "CI": "1",  # so that no program starts one
            "PYTHONPATH": str(ROOT),  # this checkout, wherever the installed program comes from
            **(extra or {}),
        }

    def script(self, *steps: Mapping[str, Any]) -> str:
        """A scripted model's name."""
        path = self.home / f"script-{time.monotonic_ns()}.jsonl"
        path.write_text("\n".join(json.dumps(step) for step in steps), encoding="utf-8")
        return f"scripted:{path}"

    def run(
        self,
        *arguments: str,
        stdin: str | None = None,
        environment: Mapping[str, str] | None = None,
        timeout: float = 120,
    ) -> Done:
        """Run to the end."""
        done = subprocess.run(
            [AGENT, *arguments],
            cwd=self.workspace,
            env=self.environment(environment),
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def start(
        self, *arguments: str, environment: Mapping[str, str] | None = None, **how: Any
    ) -> "subprocess.Popen[str]":
        """Start and leave running."""
        return subprocess.Popen(
            [AGENT, *arguments],
            cwd=self.workspace,
            env=self.environment(environment),
            stdin=how.pop("stdin", subprocess.DEVNULL),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **how,
        )


def wait_until(what: Callable[[], object], seconds: float = 90.0) -> None:
    """Wait for something to become true."""
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def processes_with(text: str) -> list[int]:
    """The processes whose command line or environment holds a text."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                held = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
            except OSError:
                continue
            if text.encode() in held:
                found.append(int(entry.name))
    return found


def children_of(pid: int) -> Sequence[int]:
    """The direct children of a process."""
    try:
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return ()
    return [int(each) for each in listed.split()]
