"""Whatever is allowed is really run: it must start nothing outside the table and write nothing."""

import json
import os
import random
import resource
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_cli.safety.shell import (
    ShellContext,
    analyse,
    bash_accepts,
    place_on_disk,
)
from agent_cli.safety.shell.table import commands
from tests.kit.default_decision import default_effect

EXAMPLES = int(os.environ.get("SHELL_FUZZ_EXAMPLES", "500"))
CANARIES = """rm touch mv cp ln tee mkdir dd python python3 perl sh zsh dash node curl wget nc ssh
sudo nohup setsid watch less more man vi chmod chown kill make time gpg x.sh a b x evil
install truncate split parallel busybox script flock strace eval source"""
PARTS: list[str] = json.loads(
    (Path(__file__).parents[2] / "cases" / "shell_fragments.json").read_text()
)

SEPARATORS = [
    "; ",
    " && ",
    " || ",
    " | ",
    "\n",
    " ",
    "",
    ";",
    "|",
    "&&",
    " & ",
    "&",
    " |& ",
    "\\\n",
]


SPECIAL = "'\"\\$`(){}[]<>|&;#!~*?=\n\t -,.@%+"


@dataclass
class Arena:
    root: Path
    place: ShellContext
    environment: dict[str, str]
    log: Path

    def snapshot(self) -> dict[str, tuple[int, int]]:
        state = {}
        for path in self.root.rglob("*"):
            status = path.lstat()
            if ".git" not in path.parts:
                state[str(path)] = (status.st_size, status.st_mtime_ns)
        return state

    def run(self, command: str) -> None:
        subprocess.run(
            ["/bin/bash", "--noprofile", "--norc", "-c", command],
            cwd=self.place.cwd,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=20,
            check=False,
            preexec_fn=_limit,
        )


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    root = tmp_path_factory.mktemp("arena").resolve()
    work, out, home, shims = (root / name for name in ("work", "out", "home", "shims"))
    for folder in (work / "src", out, home, shims):
        folder.mkdir(parents=True)
    log = root / "canary.log"
    log.touch()
    for name in ("a.txt", "c.txt", "x", "-n", "--pre=x.sh"):
        (work / name).write_text("foo,1\nbar,2\n")
    (work / "d.json").write_text("{}")
    (work / ".env").write_text("SECRET=1\n")
    (work / "src" / "b.py").write_text("foo = 1\n")
    (out / "s").write_text("outside\n")
    (work / "link").symlink_to(out)
    script = f'#!/bin/bash\nbuiltin echo "$0 $*" >> {log}\n'
    (work / "x.sh").write_text(script)
    (work / "x.sh").chmod(0o755)
    for name in CANARIES.split():
        (shims / name).write_text(script)
        (shims / name).chmod(0o755)
    for name in commands():
        real = shutil.which(name, path="/usr/bin:/bin")
        if real and not (shims / name).exists():
            (shims / name).symlink_to(real)
    for name in ("env", "nice", "timeout", "bash", "stdbuf", "xargs"):
        (shims / name).symlink_to(f"/usr/bin/{name}")
    environment = {
        "PATH": str(shims),
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_PAGER": "cat",
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(work)]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run([*git, *arguments], check=True, env={**os.environ, "HOME": str(home)})
    place = place_on_disk(ShellContext(str(work), (str(work),), str(home)))
    yield Arena(root, place, environment, log)


@st.composite
def command_lines(draw: st.DrawFn) -> str:
    seed = draw(st.integers(0, 2**48))
    chance = random.Random(seed)
    text = chance.choice(PARTS)
    for _ in range(chance.randrange(4)):
        text += chance.choice(SEPARATORS) + chance.choice(PARTS)
    for _ in range(chance.choice([0, 0, 1, 1, 2, 4])):
        at = chance.randrange(len(text) + 1)
        match chance.randrange(4):
            case 0:
                text = text[:at] + chance.choice(SPECIAL) + text[at:]
            case 1:
                text = text[:at] + text[at + 1 :]
            case 2:
                text = text[:at] + chance.choice(PARTS) + text[at:]
            case _:
                text = text[:at] + chance.choice(SPECIAL) + text[at + 1 :]
    return text


def is_allowed(command: str, place: ShellContext) -> bool:
    """Whether it is let through where a sandbox would hold it: here there is none."""
    facts = replace(analyse(command, place), needs_sandbox=())
    return default_effect(facts) == "allow" and bash_accepts(command)


def test_many_of_the_generated_commands_are_allowed(arena: Arena) -> None:
    chance = random.Random(7)
    sample = ["; ".join(chance.sample(PARTS, 1)) for _ in range(300)]
    assert sum(is_allowed(command, arena.place) for command in sample) > 60


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize="SHELL_FUZZ_EXAMPLES" not in os.environ,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(command=command_lines())
def test_what_is_allowed_runs_no_other_program_and_writes_nothing(
    arena: Arena, command: str
) -> None:
    if not is_allowed(command, arena.place):
        return
    before = arena.snapshot()
    arena.run(command)
    assert arena.log.read_text() == "", command
    assert arena.snapshot() == before, command
