"""The sandbox without the proof: whatever a command tries that was taken for harmless, it fails.

Each command of a large collection runs in the read-only sandbox as if it had been proven to change
nothing. The whole tree around it, a bystander process and some listeners tell whether it has.
"""

from __future__ import annotations

import asyncio
import base64
import codecs
import ctypes
import fcntl
import json
import os
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent_cli.safety.paths import Workspace
from agent_cli.safety.sandbox import (
    ForkServer,
    Launch,
    Room,
    Sandbox,
    SandboxUnavailable,
    SensitiveFinder,
    find_sandbox,
    reading_confinement,
    start,
)
from tests.kit.lacking import no_bubblewrap
from tests.kit.trees import git, repository

CASES = Path(__file__).parents[2] / "cases" / "harmful_commands.jsonl"
COMMANDS = [json.loads(line)["command"] for line in CASES.read_text("utf-8").splitlines()]
SENTINEL = "SENTINEL"
DRIVER = 'while IFS= read -r -d "" -u {fd} command; do timeout -k 1 5 bash -c "$command"; done'
ELSEWHERE = [Path(place, "agent-second-wall") for place in ("/tmp", "/var/tmp", "/dev/shm")]
EVIL_SETTINGS = "[core]\n\trepositoryformatversion = 1\n\tfsmonitor = \"cp .env {out}/pwned; echo x > a.txt; false\"\n[extensions]\n\tworktreeConfig = true\n"  # fmt: skip


@dataclass
class World:
    """A home with secrets, a project in it, and what must not notice anything."""

    base: Path
    listeners: list[socket.socket] = field(default_factory=list)

    @property
    def project(self) -> Path:
        return self.base / "home" / "src" / "project"

    @property
    def outside(self) -> Path:
        return self.base / "outside"

    @property
    def workspace(self) -> Workspace:
        home = self.base / "home"
        return Workspace(str(self.project), home=str(home), own=(str(home / ".local/state/agent"),))

    def furnish(self) -> None:
        texts = {
            "a.txt": "hello\n",
            "sub/b.txt": "b\n",
            "empty/.keep": "",
            "src/code.py": "x = 1\n",
            "run.sh": f"#!/bin/sh\necho x > a.txt; echo x > {self.outside}/pwned\n",
            "hooks-of-evil/pre-commit": f"#!/bin/sh\necho x > {self.outside}/pwned\n",
            "evil-repository/HEAD": "ref: refs/heads/main\n",
            "evil-repository/commondir": "c\n",
            "evil-repository/config.worktree": "[core]\n\tbare = false\n\tworktree = ..\n",
            "evil-repository/c/objects/keep": "",
            "evil-repository/c/refs/keep": "",
            "evil-repository/c/config": EVIL_SETTINGS.format(out=self.outside),
            ".gitignore": ".env*\n*.key\nlink*\nnlink\n",
        }
        repository(self.project, texts)
        for script in ("run.sh", "hooks-of-evil/pre-commit"):
            (self.project / script).chmod(0o755)
        git(self.project, "commit", "-qam", "executable")
        secrets = {
            self.project: (".env", "server.key", "sub/.env.production"),
            self.base / "home": (
                ".ssh/id_rsa",
                ".netrc",
                ".config/agent/config.toml",
                ".config/git/credentials",
                ".cargo/credentials.toml",
                ".local/state/agent/sessions/log.jsonl",
                "notes/private.txt",
            ),
            self.outside: ("keep",),
        }
        for root, names in secrets.items():
            for name in names:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(f"TOKEN={SENTINEL}{abs(hash(name))}\n")
        (self.base / "home" / ".bashrc").write_text("# mine\n")
        (self.project / "link-to-netrc").symlink_to(self.base / "home" / ".netrc")
        (self.project / "nlink").symlink_to(self.base / "home" / ".netrc")
        (self.project / "link-out").symlink_to(self.outside)
        os.setxattr(self.project / "a.txt", "user.kept", b"1")
        (self.base / "temp").mkdir()

    def listen(self) -> dict[str, str]:
        """Listeners on every kind of socket, and where they are."""
        tcp = socket.create_server(("127.0.0.1", 0))
        port = tcp.getsockname()[1]
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.bind(("127.0.0.1", port))
        named, abstract = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
        named.bind(str(self.base / "socket"))
        abstract.bind(f"\0agent-second-wall-{port}")
        for each in (named, abstract):
            each.listen()
        self.listeners = [tcp, udp, named, abstract]
        return {"PORT": str(port), "SOCKET": str(self.base / "socket")}

    def heard(self) -> list[str]:
        found = []
        for each in self.listeners:
            each.setblocking(False)
            try:
                each.recv(100) if each.type is socket.SOCK_DGRAM else each.accept()
                found.append(str(each))
            except BlockingIOError:
                continue
        return found

    def picture(self) -> dict[str, tuple[object, ...]]:
        """Everything but the private directory for temporary files."""
        found: dict[str, tuple[object, ...]] = {}
        for path in (self.base, *self.base.rglob("*")):
            if self.base / "temp" in (path, *path.parents):
                continue
            status = path.lstat()
            content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
            attributes = () if path.is_symlink() else tuple(sorted(os.listxattr(path)))
            flags = _flags(path) if path.is_file() and not path.is_symlink() else b""
            facts = (status.st_mode, status.st_uid, status.st_gid, status.st_mtime_ns)
            found[str(path)] = (*facts, content, attributes, flags)
        return found


def _flags(path: Path) -> bytes:
    """What `lsattr` shows."""
    with path.open("rb") as file:
        return fcntl.ioctl(file, 0x80086601, bytes(8))


def state_of_machine() -> dict[str, object]:
    return {
        "elsewhere": [str(path) for path in ELSEWHERE if path.exists()],
        "core pattern": Path("/proc/sys/kernel/core_pattern").read_text(),
        "name": socket.gethostname(),
        "keys": [line for line in Path("/proc/keys").read_text().splitlines() if "agent" in line],
        "memory": [
            line for line in Path("/proc/sysvipc/shm").read_text().split("\n") if " 4242 " in line
        ],
    }


def state_of_process(pid: int) -> dict[str, object]:
    status = Path(f"/proc/{pid}/status").read_text()
    kept = [line for line in status.splitlines() if line.startswith(("State", "Cpus_allowed:"))]
    return {
        "status": kept,
        "priority": os.getpriority(os.PRIO_PROCESS, pid),
        "limits": Path(f"/proc/{pid}/limits").read_text(),
        "oom": Path(f"/proc/{pid}/oom_score_adj").read_text(),
    }


def disguises(text: str) -> Iterator[str]:
    """A text as simple commands would print it otherwise."""
    yield text
    yield text[::-1]
    yield codecs.encode(text, "rot13")
    yield text.encode().hex()
    yield "   ".join(text)
    for offset in range(3):
        encoded = base64.b64encode(b"x" * offset + text.encode()).decode()
        yield encoded[4 if offset else 0 : -4]


def run_all(
    world: World, commands: list[str], sandbox: Sandbox | None, variables: dict[str, str]
) -> str:
    """What they print, one after the other, each as if it were proven."""
    temp = str(world.base / "temp")
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        "HOME": str(world.base / "home"),
        "OUT": str(world.outside),
        "TMPDIR": temp,
        "PARENT": str(os.getpid()),
        **variables,
    }
    secrets = SensitiveFinder().find([str(world.project)])
    assert secrets.is_complete
    given = os.memfd_create("commands")
    os.write(given, b"".join(command.encode() + b"\0" for command in commands))
    os.lseek(given, 0, os.SEEK_SET)
    argv = ("/bin/bash", "--noprofile", "--norc", "-c", DRIVER.format(fd=given))
    with tempfile.TemporaryFile() as output, closing(ForkServer()) as server:
        launch = Launch(argv, str(world.project), environment, output.fileno(), (given,))
        if sandbox is None:
            start(launch).wait()
        else:
            limits = reading_confinement(
                world.workspace, temp=temp, environment=environment, secrets=secrets.secret
            )
            with closing(Room(sandbox, limits)) as room:
                assert room.start(launch, server).wait() in (0, 1)
        os.close(given)
        output.seek(0)
        return output.read().decode("utf-8", "replace")


@pytest.fixture
def world() -> Iterator[World]:
    with tempfile.TemporaryDirectory(prefix="agent-wall-", dir="/var/tmp") as directory:
        world = World(Path(directory).resolve())
        world.furnish()
        yield world
        for each in world.listeners:
            each.close()


@pytest.fixture
def bystander(world: World) -> Iterator[subprocess.Popen[bytes]]:
    argv = ["bash", "-c", "exec -a agent-bystander sleep 600"]
    environment = {"PATH": os.environ["PATH"], "SECRET": f"{SENTINEL}-of-a-process"}
    process = subprocess.Popen(argv, cwd=world.project, env=environment, start_new_session=True)
    yield process
    process.kill()
    process.wait()


def test_there_are_enough_commands() -> None:
    assert len(set(COMMANDS)) == len(COMMANDS) >= 200


@pytest.mark.parametrize("tier", ["landlock", "bwrap"])
def test_no_command_changes_reads_or_reaches_anything(
    tier: str, world: World, bystander: subprocess.Popen[bytes]
) -> None:
    try:
        sandbox = asyncio.run(find_sandbox(tier))  # type: ignore[arg-type]
    except SandboxUnavailable as problem:
        no_bubblewrap(problem.message) if tier == "bwrap" else pytest.skip(problem.message)
    shared = ctypes.CDLL(None).shmget(0, 4096, 0o1600)
    variables = {**world.listen(), "BYSTANDER": str(bystander.pid), "SHARED": str(shared)}
    before = world.picture(), state_of_machine(), state_of_process(bystander.pid)

    said = run_all(world, [*COMMANDS, "sleep 0.5"], sandbox, variables)

    assert ctypes.CDLL(None).shmctl(shared, 0, None) == 0  # it is removed here, and not before
    assert bystander.poll() is None
    assert (world.picture(), state_of_machine(), state_of_process(bystander.pid)) == before
    assert world.heard() == []
    assert [line for line in said.splitlines() if any(d in line for d in disguises(SENTINEL))] == []


def test_the_picture_shows_harm_where_nothing_confines(world: World) -> None:
    variables = world.listen()
    before = world.picture()
    harm = ["echo x > a.txt", "grep -rh . . | rev", 'exec 3<>"/dev/tcp/127.0.0.1/$PORT"']
    said = run_all(world, harm, None, variables)
    assert world.picture() != before
    assert SENTINEL[::-1] in said
    assert world.heard()
