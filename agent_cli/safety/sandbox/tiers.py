"""The sandbox of a session: which kind works here, found out by running something in it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Literal, assert_never

from agent_cli.lib.language import mark, tr
from agent_cli.lib.text import join_items
from agent_cli.safety.environment import search_path
from agent_cli.safety.sandbox import bubblewrap, landlock, landlock_exec, masks, seatbelt, seccomp
from agent_cli.safety.sandbox.confinement import Confinement, Profile
from agent_cli.safety.sandbox.holding import holding_for
from agent_cli.safety.sandbox.starting import ForkServer, Launch, Process, start

Setting = Literal["auto", "off", "bwrap", "landlock"]

_PROBE_TIMEOUT_S = 10
_WORKS = 42
# It must write inside, fail to write outside, and not see what is hidden.
_PROBE = f"""
echo written > "$1/file" || exit 43
(echo written > "$2/file") 2>/dev/null && exit 44
(read -r secret < "$3/file" && [ -n "$secret" ]) 2>/dev/null && exit 45
exit {_WORKS}
"""
_COMPLAINTS = {
    43: mark("a confined command can't write where it should"),
    44: mark("it doesn't keep a command from writing outside"),
    45: mark("it doesn't hide what should be hidden"),
}
_NAMESPACES = mark(
    "bubblewrap isn't allowed to use user namespaces (on Ubuntu, load the AppArmor profile "
    "bwrap-userns-restrict; elsewhere see the sysctl kernel.unprivileged_userns_clone) ({said})"
)
_PROC = mark("this container doesn't let bubblewrap mount /proc ({said})")


class Tier(StrEnum):
    """What confines commands."""

    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"
    SEATBELT = "seatbelt"
    NONE = "none"


_SHORT = {tier: "bwrap" if tier is Tier.BUBBLEWRAP else tier.value for tier in Tier}


class SandboxUnavailable(Exception):
    """The sandbox that the settings ask for does not work here; `hint` says what would help."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True)
class Sandbox:
    """What confines the commands of a session."""

    tier: Tier
    reason: str
    """Which one it is and why, for the user."""
    limits: tuple[str, ...] = ()
    """What it cannot do, in words."""
    program: str = ""
    reader: Sandbox | None = None
    """Another one for commands that only look; None: the same."""

    @property
    def confines(self) -> bool:
        """Whether commands are confined at all."""
        return self.tier is not Tier.NONE

    def for_profile(self, profile: Profile) -> Sandbox:
        """The one that confines commands of this profile."""
        return self.reader if self.reader and profile is Profile.READ_ONLY else self

    def label(self, profile: Profile) -> str:
        """What a command of this profile runs in, for the audit log: "read-only/landlock"."""
        return f"{profile.value}/{_SHORT[self.for_profile(profile).tier]}"

    def wrap(
        self,
        argv: Sequence[str],
        confinement: Confinement,
        *,
        cwd: str,
        filter_from: int | None = None,
    ) -> list[str]:
        """What to execute instead of `argv`, in the directory `cwd`.

        The environment it is started with must not come from confined commands: a loader's
        variables would act before the confinement does.
        """
        match self.tier:
            case Tier.BUBBLEWRAP:
                return bubblewrap.command_line(
                    self.program, argv, confinement, cwd=cwd, filter_from=filter_from
                )
            case Tier.LANDLOCK:
                return landlock.command_line(argv, confinement)
            case Tier.SEATBELT:
                return seatbelt.command_line(argv, confinement)
            case Tier.NONE:
                return list(argv)
            case _:
                assert_never(self.tier)


@dataclass
class Room:
    """One command's sandbox; while it is open, protected places that do not exist are occupied.

    Close it when nothing of the command is left.
    """

    sandbox: Sandbox
    confinement: Confinement
    links: tuple[str, ...] = ()
    """Protected places that are links, and so can be replaced."""
    descriptors: tuple[int, ...] = ()
    """What has to be handed on to a command that is wrapped."""
    _masks: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.sandbox = self.sandbox.for_profile(self.confinement.profile)
        if self.sandbox.tier is not Tier.BUBBLEWRAP:
            return
        code = bubblewrap.call_filter(self.confinement, os.uname().machine)
        self.descriptors = () if code is None else (_file_with(code),)
        holding = holding_for(self.confinement)
        self.links = tuple(holding.links)
        leftovers = [place for place in holding.read_only if masks.is_mask(place)]
        self._masks = masks.occupy((*holding.missing, *leftovers))

    @property
    def protects(self) -> bool:
        """Whether what makes something run later cannot be changed from in here."""
        is_read_only = self.confinement.profile is Profile.READ_ONLY
        return is_read_only or self.sandbox.tier is not Tier.LANDLOCK

    def wrap(self, argv: Sequence[str], *, cwd: str) -> list[str]:
        """What to execute instead of `argv`; it must be given our descriptors."""
        filter_from = self.descriptors[0] if self.descriptors else None
        return self.sandbox.wrap(argv, self.confinement, cwd=cwd, filter_from=filter_from)

    def start(self, launch: Launch, server: ForkServer) -> Process:
        """Start a command in here; raises OSError."""
        if self.sandbox.tier is Tier.LANDLOCK and ForkServer.works_here():
            return server.start(launch, landlock.orders(self.confinement))
        wrapped = self.wrap(launch.argv, cwd=launch.directory)
        return start(replace(launch, argv=wrapped), *self.descriptors)

    def close(self) -> None:
        """Leave no trace in the writable directories."""
        masks.release(self._masks)
        for each in self.descriptors:
            os.close(each)
        self.descriptors = ()


def _file_with(content: bytes) -> int:
    """A nameless file to be read by whoever inherits it."""
    descriptor = os.memfd_create("filter", os.MFD_CLOEXEC)
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


async def find_sandbox(setting: Setting = "auto") -> Sandbox:
    """The best sandbox that works here; one asked for by name works or raises."""
    match setting:
        case "off":
            return Sandbox(Tier.NONE, tr("none: switched off in the settings"))
        case "bwrap":
            return await _demand(_bubblewrap, setting)
        case "landlock":
            return await _demand(_landlock, setting)
        case "auto":
            return await _best()
        case _:
            assert_never(setting)


class _Unfit(Exception):
    """Why a tier cannot be used here, in words."""


async def _best() -> Sandbox:
    tries = (_seatbelt,) if sys.platform == "darwin" else (_bubblewrap, _landlock)
    missed: list[str] = []
    for find in tries:
        try:
            found = await find()
        except _Unfit as why:
            missed.append(str(why))
            continue
        # A lesser tier always says what the better one lacked.
        found = replace(found, reason=join_items((found.reason, *missed)))
        return replace(found, reader=await _reader(found))
    return Sandbox(Tier.NONE, tr("none: {why}", why=join_items(missed)))


async def _reader(found: Sandbox) -> Sandbox | None:
    """For commands that only look, Landlock is better than bubblewrap: what they see is real.

    With namespaces of its own a command would not see the processes and the mounts of this machine,
    and files that are hidden by mounts look changed.
    """
    if found.tier is not Tier.BUBBLEWRAP or os.uname().machine not in seccomp.MACHINES:
        return None
    try:
        return await _landlock()
    except _Unfit:
        return None


async def _demand(find: Callable[[], Awaitable[Sandbox]], setting: str) -> Sandbox:
    try:
        return await find()
    except _Unfit as why:
        raise SandboxUnavailable(
            tr(
                'The setting sandbox = "{setting}" does not work here: {why}.',
                setting=setting,
                why=why,
            ),
            hint=tr('Fix that, or set sandbox = "auto" or "off".'),
        ) from why


async def _bubblewrap() -> Sandbox:
    if sys.platform != "linux":
        raise _Unfit(tr("bubblewrap needs Linux"))
    program = shutil.which("bwrap", path=search_path(os.environ.get("PATH", ""), str(Path.cwd())))
    if program is None:
        raise _Unfit(tr("bubblewrap is not installed"))
    _, said = await _output([program, "--version"])
    reason = said.strip() or "bubblewrap"
    sandbox = Sandbox(Tier.BUBBLEWRAP, reason, bubblewrap.LIMITS, program)
    await _prove(sandbox)
    return sandbox


async def _landlock() -> Sandbox:
    if sys.platform != "linux":
        raise _Unfit(tr("Landlock needs Linux"))
    version = landlock_exec.abi()
    if not version:
        raise _Unfit(tr("the kernel has no Landlock"))
    limits = landlock.limits(version, os.uname().machine)
    sandbox = Sandbox(Tier.LANDLOCK, f"Landlock {version}", limits)
    await _prove(sandbox)
    return sandbox


async def _seatbelt() -> Sandbox:
    sandbox = Sandbox(Tier.SEATBELT, "sandbox-exec", seatbelt.LIMITS)
    await _prove(sandbox)
    return sandbox


def _make_places(directory: str) -> list[Path]:
    """Directories to try a sandbox on: inside, outside, and a hidden one with a file in it."""
    places = [Path(directory).resolve() / name for name in ("inside", "outside", "hidden")]
    for place in places:
        place.mkdir()
    (places[-1] / "file").write_text("secret\n", encoding="utf-8")
    return places


async def _prove(sandbox: Sandbox) -> None:
    """Run a command in the sandbox; raises unless it is confined as it should be."""
    with tempfile.TemporaryDirectory(prefix="agent-sandbox-") as directory:
        places = inside, outside, hidden = _make_places(directory)
        probe = ("/bin/sh", "-c", _PROBE, "sh", *map(str, places))
        confinement = Confinement(writable=(str(inside),), hidden=(str(hidden),))
        with contextlib.closing(Room(sandbox, confinement)) as room:
            argv = room.wrap(probe, cwd=str(inside))
            code, said = await _output(argv, room.descriptors)
        if code == _WORKS and any(inside.iterdir()) and not any(outside.iterdir()):
            return
    complaint = _COMPLAINTS.get(code)
    raise _Unfit(tr(complaint) if complaint else _in_words(sandbox, said))


async def _output(argv: Sequence[str], descriptors: Sequence[int] = ()) -> tuple[int, str]:
    """How a command ended, and what it said."""
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            pass_fds=descriptors,
            start_new_session=True,
        )
    except OSError as error:
        raise _Unfit(tr("{name} can't be run ({why})", name=argv[0], why=error.strerror)) from error
    try:
        async with asyncio.timeout(_PROBE_TIMEOUT_S):
            said, _ = await process.communicate()
    except TimeoutError:
        raise _Unfit(tr("{name} timed out", name=argv[0])) from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, said.decode("utf-8", "replace")


def _in_words(sandbox: Sandbox, said: str) -> str:
    lines = said.strip().splitlines()
    last = lines[-1][:200] if lines else tr("no message")
    if "namespace" in said or "uid map" in said:
        return tr(_NAMESPACES, said=last)
    if "mount proc" in said:
        return tr(_PROC, said=last)
    return tr("{what} doesn't work ({said})", what=sandbox.reason, said=last)
