"""What a command that is proven to change nothing can see, and how it is started."""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
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
    landlock_exec,
    reading_confinement,
    sensitive_files,
)
from agent_cli.safety.sensitive import NOT_SECRET, SECRET_NAMES, is_secret
from tests.kit.lacking import no_bubblewrap
from tests.kit.trees import git, repository, write


@pytest.fixture
def base() -> Iterator[Path]:
    # Not below /tmp, which is hidden from such commands anyway.
    with tempfile.TemporaryDirectory(prefix="agent-test-", dir="/var/tmp") as directory:
        place = Path(directory).resolve()
        (place / "home" / "project").mkdir(parents=True)
        (place / "temp").mkdir()
        yield place


@pytest.fixture(params=["landlock", "bwrap"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    try:
        return asyncio.run(find_sandbox(request.param))
    except SandboxUnavailable as problem:
        no_bubblewrap(problem.message) if request.param == "bwrap" else pytest.skip(problem.message)


def run(
    base: Path,
    sandbox: Sandbox,
    script: str,
    server: ForkServer | None = None,
    **environment: str,
) -> tuple[int, str]:
    project = base / "home" / "project"
    workspace = Workspace(str(project), home=str(base / "home"))
    variables = {"PATH": "/usr/local/bin:/usr/bin:/bin", "TMPDIR": str(base / "temp")}
    variables |= {"HOME": str(base / "home"), **environment}
    limits = reading_confinement(
        workspace,
        temp=str(base / "temp"),
        environment=variables,
        secrets=SensitiveFinder().find([str(project)]).secret,
    )
    argv = ("/bin/bash", "--noprofile", "--norc", "-c", script)
    with tempfile.TemporaryFile() as output, closing(server or ForkServer()) as started:
        with closing(Room(sandbox, limits)) as room:
            launch = Launch(argv, str(project), variables, output.fileno())
            code = room.start(launch, started).wait()
        output.seek(0)
        return code, output.read().decode()


# --- what it sees


def test_everyday_commands_work(base: Path, sandbox: Sandbox) -> None:
    project = base / "home" / "project"
    repository(project, {"a.txt": "hello\n", "sub/b.txt": "b\n"})
    (project / "a.txt").write_text("changed\n")
    script = """
        git status --short; git diff --stat | tail -1; git log --format=%s; ls; wc -l < a.txt
        cat <<X | tr a-z A-Z
here
X
        sort a.txt sub/b.txt; find . -name b.txt; cat <(echo substituted); echo x > /dev/null
        file=$(mktemp); echo kept > "$file"; cat "$file"; seq 100000 | sort -n | tail -1; id -u
    """
    code, said = run(base, sandbox, script)
    assert code == 0, said
    assert said.split() == [
        "M", "a.txt", "1", "file", "changed,", "1", "insertion(+),", "1", "deletion(-)", "first",
        "a.txt", "sub", "1", "HERE", "b", "changed", "./sub/b.txt", "substituted", "kept", "100000",
        str(os.geteuid()),
    ]  # fmt: skip


def test_a_workspace_that_is_part_of_a_repository_sees_all_of_it(
    base: Path, sandbox: Sandbox
) -> None:
    above = base / "home" / "project"
    repository(above, {"a.txt": "hello\n", "part/b.txt": "b\n"})
    inner = Workspace(str(above / "part"), home=str(base / "home"))
    limits = reading_confinement(inner, temp="", environment={})
    with tempfile.TemporaryFile() as output, closing(ForkServer()) as server:
        argv = ("/bin/bash", "-c", "git log --format=%s && cat ../a.txt")
        with closing(Room(sandbox, limits)) as room:
            launch = Launch(argv, inner.root, {"PATH": "/usr/bin:/bin"}, output.fileno())
            assert room.start(launch, server).wait() == 0
        output.seek(0)
        assert output.read() == b"first\nhello\n"


def test_git_settings_of_the_home_apply_also_through_a_link(base: Path, sandbox: Sandbox) -> None:
    write(base / "home", {"dotfiles/git": "[alias]\n\tsay = status --short\n"})
    (base / "home" / ".gitconfig").symlink_to("dotfiles/git")
    repository(base / "home" / "project", {"a.txt": "hello\n"})
    (base / "home" / "project" / "new").touch()
    assert run(base, sandbox, "git say") == (0, "?? new\n")


HOSTILE = {
    "a file that points to a directory": {".git": "gitdir: ../notes\n"},
    "a common directory above": {
        ".git/HEAD": "ref: refs/heads/main\n",
        ".git/commondir": "../..\n",
    },
    "objects elsewhere": {
        ".git/HEAD": "ref: refs/heads/main\n",
        ".git/objects/info/alternates": "../../../notes\n",
    },
}


@pytest.mark.parametrize("trick", HOSTILE)
def test_a_repository_cannot_open_places_outside(base: Path, trick: str) -> None:
    write(base / "home", {"notes/private": "private\n", "notes/HEAD": "x\n"})
    write(base / "home" / "project", HOSTILE[trick])
    workspace = Workspace(str(base / "home" / "project"), home=str(base / "home"))
    limits = reading_confinement(workspace, temp="", environment={})
    home = str(base / "home")
    opened = [path for path in limits.readable if path.startswith(home) or home.startswith(path)]
    assert opened == [workspace.root]


def test_programs_on_the_search_path_are_there_and_their_neighbours_are_not(
    base: Path, sandbox: Sandbox
) -> None:
    write(base / "home", {"tools/bin/hello": "#!/bin/sh\necho hello\n", "tools/private": "x\n"})
    (base / "home/tools/bin/hello").chmod(0o755)
    path = f"{base}/home/tools/bin:/usr/bin:/bin"
    code, said = run(base, sandbox, 'hello; cat "$HOME/tools/private"', PATH=path)
    assert code != 0
    assert said.startswith("hello\ncat: ")
    (base / "home/tools/lib").mkdir()
    assert run(base, sandbox, 'cat "$HOME/tools/private"', PATH=path) == (0, "x\n")


# --- secrets by name


def test_secret_files_are_found_by_name(tmp_path: Path) -> None:
    secret = (".env", ".ENV.local", "a/b/server.key", "deep/.ssh", "x/credentials.json")
    plain = (".env.example", "key.txt", "a/keys", "id_rsa.pub", "environment")
    write(tmp_path, dict.fromkeys((*secret, *plain), "x"))
    (tmp_path / "deep/.ssh").unlink()
    write(tmp_path, {"deep/.ssh/anything": "x", ".env.d/file": "x"})
    (tmp_path / "link.pem").symlink_to("a/keys")
    found = SensitiveFinder().find([str(tmp_path)])
    assert found.is_complete
    assert {str(Path(path).relative_to(tmp_path)) for path in found.secret} == {*secret, "link.pem"}


def test_what_comes_later_is_found_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sensitive_files, "_YOUNG_NS", 0)
    write(tmp_path, {"a/b/c.txt": "x", "a/d/e.txt": "x"})
    finder = SensitiveFinder()
    assert finder.find([str(tmp_path)]).secret == ()
    (tmp_path / "a/b/.env").write_text("x")
    times = (tmp_path / "a/b").stat()
    os.utime(tmp_path / "a/b", ns=(times.st_atime_ns, 1))
    assert finder.find([str(tmp_path)]).secret == (str(tmp_path / "a/b/.env"),)
    (tmp_path / "a/b/.env").rename(tmp_path / "a/d/.env")
    assert finder.find([str(tmp_path)]).secret == (str(tmp_path / "a/d/.env"),)


def test_a_limit_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sensitive_files, "MAX_DIRECTORIES", 3)
    for number in range(5):
        (tmp_path / str(number)).mkdir()
    assert not SensitiveFinder().find([str(tmp_path)]).is_complete


# --- the fork server


@pytest.fixture
def landlock() -> Sandbox:
    try:
        return asyncio.run(find_sandbox("landlock"))
    except SandboxUnavailable as problem:
        pytest.skip(problem.message)


def test_exit_codes_signals_and_odd_values_come_through(base: Path, landlock: Sandbox) -> None:
    assert run(base, landlock, "exit 7") == (7, "")
    assert run(base, landlock, "kill -TERM $$") == (-signal.SIGTERM, "")
    odd = {"EMPTY": "", "LINES_": "a\nb=c", "BYTES": os.fsdecode(b"\xff\xfe")}
    said = run(base, landlock, 'printf "%s|" "$EMPTY" "$LINES_" "$BYTES" | od -An -c | tr -d " \\n"', **odd)  # fmt: skip
    assert said == (0, "|a\\nb=c|377376|")
    assert run(base, landlock, "echo ${#LONG}", LONG="x" * 100_000) == (0, "100000\n")


def test_a_closed_server_starts_anew(base: Path, landlock: Sandbox) -> None:
    server = ForkServer()  # `run` closes it
    assert run(base, landlock, "echo one", server) == (0, "one\n")
    assert run(base, landlock, "echo two", server) == (0, "two\n")


def test_a_killed_server_is_replaced_and_one_without_us_ends(base: Path, landlock: Sandbox) -> None:
    server = ForkServer()
    workspace = Workspace(str(base / "home" / "project"), home=str(base / "home"))
    limits = reading_confinement(workspace, temp="", environment={})
    with tempfile.TemporaryFile() as output, closing(Room(landlock, limits)) as room:
        launch = Launch(("/bin/true",), workspace.root, {}, output.fileno())
        room.start(launch, server).wait()
        process = server._process
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        room.start(launch, server).wait()  # another one
        process = server._process
        assert process is not None
        server._asking.close()  # type: ignore[union-attr]
        deadline = time.monotonic() + 20
        while process.poll() is None:
            assert time.monotonic() < deadline
            time.sleep(0.005)


def test_a_worktree_of_git_is_readable(base: Path) -> None:
    main = base / "main"
    repository(main, {"a.txt": "x\n"})
    (base / "home" / "project").rmdir()
    git(main, "worktree", "add", "-q", str(base / "home" / "project"))
    workspace = Workspace(str(base / "home" / "project"), home=str(base / "home"))
    readable = reading_confinement(workspace, temp="", environment={}).readable
    assert str(main / ".git") in readable
    assert str(main) not in readable


def test_names_are_judged_as_the_decision_does(tmp_path: Path) -> None:
    filled = ("", "a", ".b", "zz.json")
    names = [name.replace("*", text) for name in SECRET_NAMES for text in filled]
    names += [*NOT_SECRET, "x.txt", "env", "Server.KEY", "kubeconfig2", "my.tfvars"]
    for name in names:
        assert sensitive_files.is_secret_name(name) is bool(is_secret(f"/w/{name}", "/h")), name


@pytest.mark.parametrize("version", [1, 3, 5])
def test_an_older_landlock_is_as_strict(version: int, base: Path, landlock: Sandbox) -> None:
    if version > landlock_exec.abi():
        pytest.skip(f"this kernel has Landlock {landlock_exec.abi()}")
    project = base / "home" / "project"
    write(project, {"a.txt": "kept", ".env": "secret"})
    code = f"""
import fcntl, os, signal, socket, sys
from agent_cli.safety.paths import Workspace
from agent_cli.safety.sandbox import landlock, landlock_exec, reading_confinement
workspace = Workspace({str(project)!r}, home={str(base / "home")!r})
limits = reading_confinement(workspace, temp={str(base / "temp")!r}, environment={{}}, secrets=({str(project / ".env")!r},))
os.chdir(workspace.root)
landlock_exec.confine(landlock.orders(limits, {version}))
assert open("a.txt").read() == "kept"
open({str(base / "temp" / "new")!r}, "w").write("x")
os.kill(0, 0)
attempts = (
    lambda: open(".env"),
    lambda: open("a.txt", "w"),
    lambda: os.truncate("a.txt", 0),
    lambda: os.open("a.txt", os.O_RDONLY | os.O_TRUNC),
    lambda: os.chmod("a.txt", 0),
    lambda: os.utime("a.txt"),
    lambda: os.listdir({str(base / "home")!r}),
    lambda: os.kill(os.getppid(), 0),
    lambda: fcntl.fcntl(0, 8, os.getppid()),
    lambda: socket.socket(),
    lambda: socket.socket(socket.AF_UNIX),
    lambda: os.setpriority(os.PRIO_USER, 0, 19),
)
for number, attempt in enumerate(attempts):
    try:
        attempt()
    except PermissionError:
        continue
    sys.exit(f"attempt {{number}} was not refused")
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(__file__).parents[3])},
    )
    assert done.returncode == 0, done.stderr
    assert (project / "a.txt").read_text() == "kept"
