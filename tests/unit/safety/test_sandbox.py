"""What confined commands can and cannot do, tried for real in each tier that works here."""

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import pytest

from agent_cli.safety.paths import Workspace
from agent_cli.safety.sandbox import (
    Confinement,
    Room,
    Sandbox,
    SandboxUnavailable,
    Tier,
    confinement_for,
    find_sandbox,
    landlock_exec,
    seatbelt,
    seccomp,
    was_blocked,
)
from tests.kit.lacking import no_bubblewrap

LONGEST = 20.0
NOBODY = 65534
TIERS = ["bwrap", "landlock"]
USERS = ["self", "nobody"]


@cache
def found(setting: str) -> Sandbox | str:
    try:
        return asyncio.run(find_sandbox(setting))  # type: ignore[arg-type]
    except SandboxUnavailable as problem:
        return problem.message


def sandbox_or_skip(setting: str) -> Sandbox:
    sandbox = found(setting)
    if isinstance(sandbox, str):
        no_bubblewrap(sandbox) if setting == "bwrap" else pytest.skip(sandbox)
    return sandbox


@cache
def python_for_nobody() -> str | None:
    """A Python that other users can run our helper with; ours may be in somebody's home."""
    for program in (sys.executable, "/usr/bin/python3"):
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            argv = [program, "-I", "-S", landlock_exec.__file__, "-l", "1", "-a", "1", "/"]
            argv += ["--", "/bin/true"]
            subprocess.run(argv, user=NOBODY, group=NOBODY, cwd="/", check=True)
            return program
    return None


@dataclass
class Scene:
    """A person's home with a project in it, and the sandbox around the project."""

    base: Path
    sandbox: Sandbox
    as_nobody: bool = False
    network: bool = False
    environment: Mapping[str, str] = field(default_factory=lambda: {"PATH": "/usr/bin:/bin"})

    @property
    def home(self) -> Path:
        return self.base / "home"

    @property
    def project(self) -> Path:
        return self.home / "project"

    @property
    def outside(self) -> Path:
        return self.base / "outside"

    @property
    def workspace(self) -> Workspace:
        state = self.home / "state"
        return Workspace(
            str(self.project),
            home=str(self.home),
            own=(str(state),),
            readable=(str(state / "outputs"),),
        )

    @property
    def confinement(self) -> Confinement:
        return confinement_for(self.workspace, temp=str(self.base / "temp"), network=self.network)

    def start(self, argv: Sequence[str], **options: object) -> subprocess.Popen[str]:
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": ()} if self.as_nobody else {}
        return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
            argv,
            cwd=self.project,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            **user,
            **options,
        )

    def run(self, script: str, *arguments: object) -> tuple[int, str]:
        argv = ["/bin/bash", "-c", script, "bash", *map(str, arguments)]
        with contextlib.closing(Room(self.sandbox, self.confinement)) as room:
            wrapped = room.wrap(argv, cwd=str(self.project))
            process = self.start(wrapped, pass_fds=room.descriptors)
            try:
                said, _ = process.communicate(timeout=LONGEST)
            finally:
                process.kill()
        return process.returncode, said

    def everything_outside(self) -> dict[str, str | int]:
        return {
            str(path): path.read_text() if path.is_file() else path.lstat().st_mode
            for top in (self.home, self.outside)
            for path in sorted(top.rglob("*"))
            if self.project not in (path, *path.parents)
        }

    def inside(self) -> dict[str, str | None]:
        return {
            str(path.relative_to(self.project)): path.read_text() if path.is_file() else None
            for path in sorted(self.project.rglob("*"))
        }


def furnish(base: Path, owner: int | None) -> None:
    files = {
        "home/.bashrc": "# mine\n",
        "home/.ssh/id_rsa": "PRIVATE KEY\n",
        "home/.netrc": "password\n",
        "home/.config/agent/config.toml": "api_key = 1\n",
        "home/.config/other/settings": "plain\n",
        "home/state/audit.jsonl": "records\n",
        "home/state/outputs/1.txt": "earlier output\n",
        "home/project/main.py": "print()\n",
        "home/project/.git/config": "[core]\n",
        "home/project/.git/hooks/README": "hooks\n",
        "home/project/.github/CODEOWNERS": "me\n",
        "home/project/vendor/lib/.git/config": "[core]\n",
        "home/project/vendor/lib/code.c": "int x;\n",
        "outside/kept": "kept\n",
        "temp/.keep": "",
    }
    for name, text in files.items():
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text(text)
    if owner is not None:
        for path in (base, *base.rglob("*")):
            os.chown(path, owner, owner)


@pytest.fixture
def make_scene(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Scene]]:
    # Not below /tmp, which confined commands see another one of.
    base = Path(tempfile.mkdtemp(prefix="agent-test-", dir="/var/tmp")).resolve()
    base.chmod(0o755)

    def make(tier: str, user: str = "self") -> Scene:
        sandbox = sandbox_or_skip(tier)
        as_nobody = user == "nobody"
        if as_nobody:
            if os.geteuid() != 0:
                pytest.skip("only root can run something as another user")
            if sandbox.tier is Tier.LANDLOCK:
                if python_for_nobody() is None:
                    pytest.skip(f"other users cannot run {sys.executable}")
                monkeypatch.setattr(sys, "executable", python_for_nobody())
        furnish(base, NOBODY if as_nobody else None)
        return Scene(base, sandbox, as_nobody)

    yield make
    shutil.rmtree(base)


@pytest.fixture(params=[f"{tier}-{user}" for tier in TIERS for user in USERS])
def scene(request: pytest.FixtureRequest, make_scene: Callable[..., Scene]) -> Scene:
    return make_scene(*request.param.split("-"))


@pytest.fixture(params=USERS)
def strict(request: pytest.FixtureRequest, make_scene: Callable[..., Scene]) -> Scene:
    """A scene in the tier that can protect places inside the workspace."""
    return make_scene("bwrap", request.param)


# --- what works


def test_a_command_works_in_its_workspace_and_its_result_comes_through(scene: Scene) -> None:
    code, said = scene.run(
        "pwd; cat main.py; mkdir -p a/b; echo text > a/b/new; mv a/b/new moved; rm main.py; exit 7"
    )
    assert (code, said) == (7, f"{scene.project}\nprint()\n")
    assert (scene.project / "moved").read_text() == "text\n"
    assert not (scene.project / "main.py").exists()


def test_the_rest_of_the_system_can_be_read_and_run(scene: Scene) -> None:
    settings = scene.home / ".config/other/settings"
    code, said = scene.run(
        'cat "$1" "$2" && ls / "$3" > /dev/null', settings, scene.outside / "kept", scene.home
    )
    assert (code, said) == (0, "plain\nkept\n")


def test_there_is_a_private_place_for_temporary_files(scene: Scene) -> None:
    scene = replace(scene, environment={**scene.environment, "TMPDIR": str(scene.base / "temp")})
    code, said = scene.run('file=$(mktemp) && echo x > "$file" && echo "$file"')
    assert code == 0
    assert Path(said.strip()).parent == scene.base / "temp"
    assert Path(said.strip()).read_text() == "x\n"


def test_slash_tmp_is_another_one(strict: Scene) -> None:
    name = f"agent-test-{uuid.uuid4().hex}"
    assert strict.run('echo x > "/tmp/$1"; ls /tmp', name) == (0, f"{name}\n")
    assert not Path("/tmp", name).exists()
    assert (strict.base / "temp" / name).read_text() == "x\n"


def test_the_environment_arrives_as_it_was_given(scene: Scene) -> None:
    odd = {"A": "1=2", "EMPTY": "", "LINES_": "a\nb", "BASH_FUNC_f%%": "() { echo function; }"}
    scene = replace(scene, environment=odd)
    code, said = scene.run('f; echo "$A|$EMPTY|$LINES_|${LC_CTYPE-none}|${PYTHONPATH-none}"')
    assert (code, said) == (0, "function\n1=2||a\nb|none|none\n")


def test_a_broken_pipe_ends_a_command_as_usual(scene: Scene) -> None:
    code, said = scene.run('yes | head -1; echo "${PIPESTATUS[@]}"')
    assert (code, said) == (0, "y\n141 0\n")


def test_descriptors_are_handed_on(scene: Scene) -> None:
    reading, writing = os.pipe()
    with contextlib.closing(Room(scene.sandbox, scene.confinement)) as room:
        argv = ["/bin/bash", "-c", f"echo through >&{writing}"]
        wrapped = room.wrap(argv, cwd=str(scene.project))
        process = scene.start(wrapped, pass_fds=(writing, *room.descriptors))
        os.close(writing)
        assert process.communicate(timeout=LONGEST) == ("", None)
    with os.fdopen(reading) as file:
        assert file.read() == "through\n"


def test_usual_devices_work(scene: Scene) -> None:
    code, said = scene.run(
        "echo x > /dev/null && head -c 3 /dev/zero | wc -c && head -c 2 /dev/urandom | wc -c"
        " && cat <(echo substituted)"
    )
    assert (code, said.split()) == (0, ["3", "2", "substituted"])


def test_a_workspace_and_a_program_with_odd_names(make_scene: Callable[..., Scene]) -> None:
    for tier in TIERS:
        if isinstance(found(tier), str):
            continue
        scene = make_scene(tier)
        odd = scene.base / 'odd "name"\n -- $x'
        odd.mkdir(exist_ok=True)
        confinement = Confinement(writable=(str(odd),))
        argv = ["/bin/bash", "-c", "echo x > file", "--ro-bind", "-r"]
        with contextlib.closing(Room(scene.sandbox, confinement)) as room:
            wrapped = room.wrap(argv, cwd=str(odd))
            subprocess.run(wrapped, cwd=odd, check=True, pass_fds=room.descriptors)
        assert (odd / "file").read_text() == "x\n"


# --- writing outside

ATTEMPTS = {
    "a new file": 'echo x > "$OUT/new"',
    "an existing file": 'echo x > "$OUT/kept"',
    "appending": 'echo x >> "$OUT/kept"',
    "a start-up file": 'echo x >> "$H/.bashrc"',
    "a new file at home": 'echo x > "$H/.profile"',
    "a directory": 'mkdir "$OUT/new"',
    "removing": 'rm -f "$OUT/kept"',
    "moving away": 'mv "$OUT/kept" stolen',
    "moving in": 'mv main.py "$OUT/main.py"',
    "emptying": 'truncate -s 0 "$OUT/kept"',
    "opening for reading emptied": 'perl -e "use Fcntl; sysopen(F, shift, O_RDONLY|O_TRUNC) or die" "$OUT/kept"',
    "a link planted inside": 'ln -s "$OUT" link && echo x > link/new',
    "a link to a file": 'ln -s "$OUT/kept" link && echo x > link',
    "a link that dangles": 'ln -s "$OUT/new" link && echo x > link',
    "another name for a file": 'ln "$OUT/kept" kept && echo x > kept',
    "a link over the workspace": 'cd .. && mv project old && ln -s "$OUT" project && echo x > project/new',
    "the way up": 'echo x > ../../outside/new',
    "by way of /proc": 'echo x > "/proc/self/root$OUT/new"',
    "by way of process 1": 'echo x > "/proc/1/root$OUT/new"',
    "in a session of its own": 'setsid -w bash -c "echo x > \\"$OUT/new\\""',
    "after two forks": '( ( echo x > "$OUT/new" ) & wait ) & wait',
    "in other namespaces": 'unshare -Ur --mount bash -c "mount -o remount,rw,bind / ; umount -l /; echo x > \\"$OUT/new\\""',
    "over a mount": 'unshare -Ur --mount bash -c "mount --bind \\"$OUT\\" .git; echo x > .git/new"',
    "a device": 'mknod disk b 254 0 && echo x > disk',
    "a setting of the kernel": 'cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern',
}  # fmt: skip


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_nothing_outside_can_be_changed(scene: Scene, attempt: str) -> None:
    before = scene.everything_outside()
    code, said = scene.run(f"OUT=$1 H=$2; {ATTEMPTS[attempt]}", scene.outside, scene.home)
    assert scene.everything_outside() == before
    if "fork" not in attempt:
        assert code != 0, said


def test_modes_outside_cannot_be_changed(strict: Scene) -> None:
    before = strict.everything_outside()
    code, _ = strict.run('chmod 777 "$1" "$1/kept"; touch "$1/kept"', strict.outside)
    assert code != 0
    assert strict.everything_outside() == before


# --- protected places inside

PROTECTED = {
    "a hook": "echo x > .git/hooks/pre-commit",
    "git's settings": "git config --file .git/config core.fsmonitor ./x || echo x >> .git/config",
    "git's settings elsewhere": "echo ../evil > .git/commondir",
    "git's directory moved": "mv .git old && mkdir .git && echo x > .git/config",
    "git's directory removed": "rm -rf .git; mkdir .git && echo x > .git/config",
    "a submodule's hook": "mkdir -p vendor/lib/.git/hooks && echo x > vendor/lib/.git/hooks/x",
    "a submodule moved": "mv vendor/lib old && mkdir -p vendor/lib/.git",
    "a submodule's parent moved": "mv vendor old && mkdir -p vendor/lib/.git",
    "new editor tasks": "mkdir -p .vscode && echo x > .vscode/tasks.json",
    "a link for editor tasks": "ln -s src .vscode",
    "editor tasks moved in": "mkdir new && touch new/tasks.json && mv -T new .vscode",
    "our own settings": "mkdir -p .agent && echo x > .agent/config.toml",
    "servers for agents": "echo x > .mcp.json",
    "servers for agents, moved in": "echo x > new && mv -T new .mcp.json",
    "instructions": "echo x > AGENTS.md",
    "a workflow": "mkdir -p .github/workflows && echo x > .github/workflows/x.yml",
    "a workflow beside": "mv .github old && mkdir -p .github/workflows",
    "mask removed": "rmdir .vscode && mkdir .vscode",
    "mask unmounted": "unshare -Ur --mount bash -c 'umount -l .vscode && touch .vscode/x'",
    "mask removed elsewhere": "unshare -Ur --mount bash -c 'rmdir .vscode'; mkdir .vscode",
}


@pytest.mark.parametrize("attempt", PROTECTED)
def test_protected_places_neither_change_nor_come_to_be(strict: Scene, attempt: str) -> None:
    protected = ".git", ".github", ".vscode", ".agent", ".mcp.json", "AGENTS.md", "vendor/lib/.git"
    before = {name: text for name, text in strict.inside().items() if name.startswith(protected)}
    code, said = strict.run(PROTECTED[attempt])
    after = {name: text for name, text in strict.inside().items() if name.startswith(protected)}
    assert after == before
    assert code != 0, said


def test_other_places_beside_protected_ones_can_change(strict: Scene) -> None:
    code, said = strict.run(
        "echo x > .github/CODEOWNERS && echo x > vendor/lib/code.c && cat .git/config"
    )
    assert (code, said) == (0, "[core]\n")
    assert (strict.project / ".github/CODEOWNERS").read_text() == "x\n"


def test_a_tier_that_cannot_protect_places_inside_says_so() -> None:
    assert any("protected" in limit for limit in sandbox_or_skip("landlock").limits)


def test_a_home_as_workspace_keeps_its_start_up_files_and_secrets(strict: Scene) -> None:
    workspace = Workspace(str(strict.home), home=str(strict.home))
    confinement = confinement_for(workspace, temp=str(strict.base / "temp"))
    before = strict.everything_outside()
    script = "echo x >> .bashrc; echo x > .zshrc; cat .ssh/id_rsa .netrc; mkdir -p .config/systemd; echo x > .ssh/new; echo x > note"
    with contextlib.closing(Room(strict.sandbox, confinement)) as room:
        wrapped = room.wrap(["/bin/bash", "-c", script], cwd=str(strict.home))
        process = strict.start(wrapped, pass_fds=room.descriptors)
        said, _ = process.communicate(timeout=LONGEST)
    assert "PRIVATE" not in said
    assert "password" not in said
    assert strict.everything_outside() == {**before, str(strict.home / "note"): "x\n"}


def test_a_protected_link_is_reported_and_its_target_kept(strict: Scene) -> None:
    (strict.project / "settings").mkdir()
    (strict.project / ".vscode").symlink_to("settings")
    room = Room(strict.sandbox, strict.confinement)
    room.close()
    assert room.links == (str(strict.project / ".vscode"),)
    code, _ = strict.run("echo x > .vscode/tasks.json")
    assert code != 0
    assert not list((strict.project / "settings").iterdir())


# --- masks


def test_nothing_is_left_behind_where_nothing_was(strict: Scene) -> None:
    before = strict.inside()
    with contextlib.closing(Room(strict.sandbox, strict.confinement)):
        assert (strict.project / ".vscode").is_dir()
        assert strict.inside() != before
    assert strict.inside() == before


def test_a_place_stays_occupied_until_the_last_command_is_done(strict: Scene) -> None:
    first = Room(strict.sandbox, strict.confinement)
    second = Room(strict.sandbox, strict.confinement)
    first.close()
    assert (strict.project / ".vscode").is_dir()
    second.close()
    assert not (strict.project / ".vscode").exists()


def test_what_a_person_puts_there_meanwhile_stays(strict: Scene) -> None:
    with contextlib.closing(Room(strict.sandbox, strict.confinement)):
        (strict.project / ".vscode" / "settings.json").write_text("{}")
    assert (strict.project / ".vscode" / "settings.json").read_text() == "{}"


def test_an_empty_directory_of_somebody_else_stays(strict: Scene) -> None:
    (strict.project / ".idea").mkdir()
    strict.run("true")
    assert (strict.project / ".idea").is_dir()


def test_what_a_crash_left_is_tidied_up_the_next_time(strict: Scene) -> None:
    if strict.as_nobody:
        pytest.skip("one user is enough")
    (strict.project / ".idea").mkdir(0o1755)
    strict.run("true")
    assert not (strict.project / ".idea").exists()


def test_protection_does_not_depend_on_the_room(strict: Scene) -> None:
    argv = strict.sandbox.wrap(
        ["/bin/bash", "-c", "echo x > .vscode/tasks.json"],
        strict.confinement,
        cwd=str(strict.project),
    )
    assert strict.start(argv).wait(LONGEST) != 0
    assert not (strict.project / ".vscode" / "tasks.json").exists()


# --- secrets


@pytest.mark.parametrize(
    "place", [".ssh/id_rsa", ".netrc", ".config/agent/config.toml", "state/audit.jsonl"]
)
def test_secrets_of_the_home_cannot_be_read(scene: Scene, place: str) -> None:
    secret = (scene.home / place).read_text().strip()
    code, said = scene.run(
        'cat "$1"; cp "$1" copy && cat copy; ln -s "$1" link && cat link; ln "$1" hard && cat hard; true',
        scene.home / place,
    )
    assert code == 0
    assert secret not in said


def test_a_link_to_a_secret_does_not_open_it(scene: Scene) -> None:
    (scene.home / "elsewhere").symlink_to(".ssh")
    code, said = scene.run('cat "$1/elsewhere/id_rsa"', scene.home)
    assert code != 0
    assert "PRIVATE" not in said


def test_outputs_of_earlier_calls_can_be_read(scene: Scene) -> None:
    code, said = scene.run('cat "$1"', scene.home / "state/outputs/1.txt")
    assert (code, said) == (0, "earlier output\n")


# --- the network


@pytest.mark.parametrize("allowed", [False, True])
def test_the_network_is_there_only_if_allowed(scene: Scene, allowed: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        scene = replace(scene, network=allowed)
        code, said = scene.run('exec 3<>"/dev/tcp/127.0.0.1/$1" && echo connected', port)
    assert (code == 0, "connected" in said) == (allowed, allowed), said


@pytest.mark.parametrize("allowed", [False, True])
def test_datagrams_leave_only_if_allowed(scene: Scene, allowed: bool) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(LONGEST if allowed else 0.2)
        scene = replace(scene, network=allowed)
        scene.run('echo hello > "/dev/udp/127.0.0.1/$1"', server.getsockname()[1])
        if allowed:
            assert server.recv(10) == b"hello\n"
        else:
            with pytest.raises(TimeoutError):
                server.recv(10)


@pytest.mark.parametrize("allowed", [False, True])
def test_a_daemon_that_listens_in_the_file_system_is_out_of_reach(
    scene: Scene, allowed: bool
) -> None:
    if shutil.which("perl", path="/usr/bin:/bin") is None:
        pytest.skip("perl is needed to connect")
    place = Path("/tmp", f"agent-test-{uuid.uuid4().hex}")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place))
        place.chmod(0o777)
        server.listen()
        try:
            scene = replace(scene, network=allowed)
            script = "use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, pack_sockaddr_un(shift)) or die"
            code, said = scene.run('perl -e "$1" "$2"', script, place)
        finally:
            place.unlink()
    assert code != 0, said


# --- processes


def test_a_process_outside_cannot_be_killed(scene: Scene) -> None:
    if scene.sandbox.tier is Tier.LANDLOCK and landlock_exec.abi() < 6:
        pytest.skip("Landlock keeps signals inside since ABI 6; the limits say so")
    bystander = scene.start(["/bin/sleep", "60"])
    try:
        code, _ = scene.run('kill -9 "$1"', bystander.pid)
        assert code != 0
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.communicate()


def test_the_environment_of_a_process_outside_cannot_be_read(scene: Scene) -> None:
    bystander = replace(scene, environment={"SECRET": "s3cret"}).start(["/bin/sleep", "60"])
    try:
        _, said = scene.run(
            'tr "\\0" "\\n" < "/proc/$1/environ"; cat /proc/*/environ', bystander.pid
        )
        assert "s3cret" not in said
    finally:
        bystander.kill()
        bystander.communicate()


def test_a_killed_sandbox_takes_everything_along(strict: Scene) -> None:
    mark = uuid.uuid4().hex
    script = f"setsid bash -c 'exec -a {mark} sleep 600' & (setsid bash -c 'exec -a {mark} sleep 600' &) ; echo ready; wait"
    with contextlib.closing(Room(strict.sandbox, strict.confinement)) as room:
        wrapped = room.wrap(["/bin/bash", "-c", script], cwd=str(strict.project))
        process = strict.start(wrapped, pass_fds=room.descriptors)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        until(lambda: len(processes_named(mark)) == 2)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=LONGEST)
        until(lambda: not processes_named(mark))


def test_nothing_outlives_its_command(strict: Scene) -> None:
    mark = uuid.uuid4().hex
    code, _ = strict.run(f"setsid bash -c 'exec -a {mark} sleep 600' >/dev/null 2>&1 & sleep 0")
    assert code == 0
    until(lambda: not processes_named(mark))


def processes_named(mark: str) -> list[str]:
    return [
        place.name
        for place in Path("/proc").iterdir()
        if place.name.isdigit() and _command_of(place).startswith(mark)
    ]


def _command_of(place: Path) -> str:
    try:
        return (place / "cmdline").read_text()
    except OSError:
        return ""


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LONGEST
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.005)


# --- older kernels


@pytest.mark.parametrize("version", range(1, 8))
def test_landlock_of_any_age_keeps_files_outside(version: int, tmp_path: Path) -> None:
    sandbox_or_skip("landlock")
    if version > landlock_exec.abi():
        pytest.skip(f"this kernel has Landlock {landlock_exec.abi()}")
    inside = tmp_path / "inside"
    inside.mkdir()
    outside = tmp_path / "outside"
    outside.write_text("kept")
    code = f"""
import os, socket
from agent_cli.safety.sandbox import Confinement, landlock, landlock_exec
landlock_exec.confine(landlock.orders(Confinement(writable=({str(inside)!r},)), {version}))
open({str(inside / "new")!r}, "w").write("x")
for attempt in (
    lambda: open({str(outside)!r}, "w"),
    lambda: open({str(outside)!r}, "a"),
    lambda: os.truncate({str(outside)!r}, 0),
    lambda: os.open({str(outside)!r}, os.O_RDONLY | os.O_TRUNC),
    lambda: os.unlink({str(outside)!r}),
    lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
    lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM),
):
    try:
        attempt()
    except PermissionError:
        continue
    raise SystemExit(1)
socket.socketpair()
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=LONGEST)
    assert outside.read_text() == "kept"
    assert (inside / "new").read_text() == "x"


@pytest.mark.parametrize("machine", sorted(seccomp.MACHINES))
@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("sockets", [(), (1, 2, 10, 16)])
@pytest.mark.parametrize("is_read_only", [False, True])
def test_every_jump_of_the_filter_stays_in_it(
    machine: str, old: bool, sockets: tuple[int, ...], is_read_only: bool
) -> None:
    code = seccomp.build_filter(
        machine,
        sockets=sockets,
        is_read_only=is_read_only,
        may_truncate=not old,
        may_signal=not old,
    )
    program = list(struct.iter_unpack("=HBBI", code))
    for place, (_, yes, no, _) in enumerate(program):
        assert place + 1 + max(yes, no) < len(program) or program[place][0] == 0x06
    assert program[-1] == (0x06, 0, 0, 0x7FFF0000)


# --- choosing


async def test_a_better_tier_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    sandbox = await find_sandbox("auto")
    assert sandbox.tier is not Tier.BUBBLEWRAP
    assert "bubblewrap" in sandbox.reason


async def test_a_tier_asked_for_by_name_works_or_fails_loudly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SandboxUnavailable, match="bubblewrap is not installed"):
        await find_sandbox("bwrap")


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        ('while [ "$1" != -- ]; do shift; done; shift; exec "$@"', "writing outside"),
        ('echo "bwrap: setting up uid map: Permission denied" >&2; exit 1', "AppArmor"),
        ('echo "bwrap: Can\'t mount proc on /newroot/proc" >&2; exit 1', "container"),
        ("exit 42", "doesn't work"),
    ],
)
async def test_a_sandbox_that_does_not_confine_is_not_used(
    script: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text(f'#!/bin/sh\n[ "$1" = --version ] && exec echo bubblewrap 9\n{script}\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxUnavailable, match=complaint):
        await find_sandbox("bwrap")


async def test_a_program_in_the_workspace_is_not_taken_for_the_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\ntouch ran\n")
    fake.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".:{tmp_path}")
    found = await find_sandbox("auto")
    assert not found.program.startswith(str(tmp_path))
    assert not (tmp_path / "ran").exists()


async def test_without_a_sandbox_a_command_is_as_it_was() -> None:
    sandbox = await find_sandbox("off")
    assert (sandbox.tier, sandbox.confines) == (Tier.NONE, False)
    assert "switched off" in sandbox.reason
    with contextlib.closing(Room(sandbox, Confinement(writable=("/x",)))) as room:
        assert room.wrap(["ls", "-l"], cwd="/") == ["ls", "-l"]


# --- was it the sandbox?


@pytest.mark.parametrize(
    ("code", "output", "word"),
    [
        (1, "touch: cannot touch '/etc/x': Read-only file system", "write"),
        (1, "Error: EROFS: read-only file system, open '/x'", "write"),
        (6, "curl: (6) Could not resolve host: example.org", "network"),
        (1, "npm error code EAI_AGAIN", "network"),
        (1, "[Errno 101] Network is unreachable", "network"),
        (1, "PermissionError: [Errno 13] Permission denied: '/x'", "maybe"),
        (1, "mv: cannot move '.git' to 'x': Device or resource busy", "protects"),
        (0, "Read-only file system", None),
        (None, "Read-only file system", None),
        (1, "3 tests failed", None),
    ],
)
def test_a_failure_because_of_the_sandbox_is_recognised(
    code: int | None, output: str, word: str | None
) -> None:
    said = was_blocked(code, output)
    assert said is None if word is None else said is not None and word in said


@pytest.mark.parametrize(
    "script",
    [
        'touch "$1/new"',
        "exec 3<>/dev/tcp/127.0.0.1/9; exit $?",
        'cp main.py "$1/"',
    ],
)
def test_real_refusals_are_recognised(scene: Scene, script: str) -> None:
    if "tcp" in script and scene.sandbox.tier is Tier.BUBBLEWRAP:
        script = "exec 3<>/dev/tcp/192.0.2.1/9; exit $?"  # it has a loopback of its own
    code, said = scene.run(script, scene.outside)
    assert was_blocked(code, said)


# --- macOS, as text


def test_a_seatbelt_profile_says_all_of_the_confinement() -> None:
    confinement = Confinement(
        writable=("/w", "/t"),
        read_only_inside=("/w/.git", "/w/.github/workflows"),
        hidden=("/home/.ssh",),
        readable=("/home/.ssh/known",),
    )
    lines = seatbelt.profile(confinement).splitlines()
    assert lines[:2] == ["(version 1)", "(deny default)"]
    assert '(allow file-write* (subpath "/w"))' in lines
    deny = '(deny file-write* (regex #"^/[wW]/\\.[gG][iI][tT](/|$)"))'
    assert lines.index(deny) > lines.index('(allow file-write* (subpath "/w"))')
    assert '(deny file-write-unlink (literal "/w/.github"))' in lines
    hide = '(deny file-read* file-write* (regex #"^/[hH][oO][mM][eE]/\\.[sS][sS][hH](/|$)"))'
    assert lines.index('(allow file-read* (subpath "/home/.ssh/known"))') > lines.index(hide)
    assert not any("network" in line for line in lines)
    assert any(
        "network" in line
        for line in seatbelt.profile(replace(confinement, network=True)).splitlines()
    )


def test_in_a_seatbelt_profile_the_inner_of_two_places_counts() -> None:
    confinement = Confinement(
        writable=(), hidden=("/home", "/home/w/.env"), readable=("/home/w", "/home/w/.env.d/x")
    )
    lines = [line for line in seatbelt.profile(confinement).splitlines() if "/[hH][oO]" in line or '"/home' in line]  # fmt: skip
    assert [line.split()[0] for line in lines] == ["(deny", "(allow", "(deny", "(allow"]


def test_a_seatbelt_profile_cannot_be_broken_out_of() -> None:
    name = '/w/a"))(allow default)(x "\\'
    text = seatbelt.profile(Confinement(writable=(name,), read_only_inside=(f"{name}/.git",)))
    assert '(subpath "/w/a\\"))(allow default)(x \\"\\\\")' in text
    assert (
        seatbelt.command_line(["ls"], Confinement(writable=(name,)))[0] == "/usr/bin/sandbox-exec"
    )
    for line in text.splitlines():
        if "regex" in line:
            assert line.count('"') == 2
