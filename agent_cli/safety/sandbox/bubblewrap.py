"""The command line of bubblewrap for a confinement."""

# ruff: noqa: PTH110, PTH112

import os
from collections.abc import Iterator, Sequence

from agent_cli.safety.sandbox import seccomp
from agent_cli.safety.sandbox.confinement import Confinement, Profile
from agent_cli.safety.sandbox.holding import holding_for

LIMITS = (
    "what a command leaves running ends with it",
    "protected names are read-only at the top of a writable directory, and .git also further down",
    "a protected name that is a link can be replaced",
    "with the network, services of this machine can be reached as well",
)

# Daemons listen in /run, and whoever can talk to them (Docker, the session bus) is not confined.
# Some systems keep programs and the resolver's settings there; those stay.
_KEPT_OF_RUN = (
    "/run/current-system", "/run/opengl-driver", "/run/host", "/run/systemd/resolve/resolv.conf",
    "/run/systemd/resolve/stub-resolv.conf", "/run/NetworkManager/resolv.conf",
    "/run/resolvconf/resolv.conf",
)  # fmt: skip

# Root owns these also without any capability; one of them names a program that the kernel runs.
_SETTINGS_OF_THE_KERNEL = tuple(
    f"/proc/{name}" for name in ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "mtrr")
)

_ALONE = (
    "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--cap-drop", "ALL",
    "--new-session", "--die-with-parent",
)  # fmt: skip

_OWN_MOUNTS = ("/dev", "/proc")

Mount = tuple[str, tuple[str, ...]]
"""A place, and the options that mount something there."""


def command_line(
    program: str,
    argv: Sequence[str],
    confinement: Confinement,
    *,
    cwd: str,
    filter_from: int | None = None,
) -> list[str]:
    """What to execute instead of `argv`; `filter_from` is a descriptor with a seccomp filter.

    Its parent must be a thread that lives on: the command ends together with it.
    """
    network = () if confinement.network else ("--unshare-net",)
    mounts = sorted(_mounts(confinement), key=lambda mount: _depth(mount[0]))
    sealed = [place for place, options in mounts if options[0] == "--tmpfs" and place != "/run"]
    if "/" in confinement.hidden:
        sealed.append("/")
    return [
        program,
        *_ALONE,
        *network,
        *(("--seccomp", str(filter_from)) if filter_from is not None else ()),
        *(option for _, options in mounts for option in options),
        *(option for place in sealed for option in ("--remount-ro", place)),
        "--chdir",
        cwd,
        "--",
        *argv,
    ]


def call_filter(confinement: Confinement, machine: str) -> bytes | None:
    """The seccomp filter for what namespaces leave open; None where there is none."""
    if machine not in seccomp.MACHINES:
        return None
    is_read_only = confinement.profile is Profile.READ_ONLY
    # Sockets in the file system are out of reach; those of the kernel's other families are not.
    families = (seccomp.UNIX, seccomp.INET, seccomp.INET6, seccomp.NETLINK)
    sockets = () if is_read_only else families
    return seccomp.build_filter(machine, sockets=sockets, is_read_only=is_read_only)


def _mounts(confinement: Confinement) -> Iterator[Mount]:
    """In order of importance: of two mounts on one place, the later one counts."""
    if "/" in confinement.hidden:
        for path, target in confinement.links:
            if not confinement.is_visible(path):
                yield path, ("--symlink", target, path)
    else:
        yield "/", ("--ro-bind", "/", "/")
        yield from _run()
        if confinement.temp:
            yield _bind("--bind", confinement.temp, "/tmp")
    yield from _hide(confinement)
    for place in confinement.readable:
        if place not in _OWN_MOUNTS and os.path.exists(place):
            yield _bind("--ro-bind", place)
    yield "/dev", ("--dev", "/dev")
    yield "/proc", ("--proc", "/proc")
    if os.geteuid() == 0:
        yield from (_bind("--ro-bind", p) for p in _SETTINGS_OF_THE_KERNEL if os.path.exists(p))
    for place in confinement.writable:
        if os.path.exists(place):
            yield _bind("--bind", place)
    yield from _hold(confinement)


def _run() -> Iterator[Mount]:
    if os.path.isdir("/run"):
        yield "/run", ("--tmpfs", "/run")
    for place in _KEPT_OF_RUN:
        if os.path.exists(place):
            yield _bind("--ro-bind", os.path.realpath(place), place)


def _hide(confinement: Confinement) -> Iterator[Mount]:
    for place in confinement.hidden:
        # A link leads to a place that exists only once, and that is where it is hidden.
        real = os.path.realpath(place)
        if real == "/" or not confinement.is_visible(real):
            continue
        if os.path.isdir(real):
            yield real, ("--tmpfs", real)
        elif os.path.exists(real):
            # An empty file: programs that look into their settings go on without them.
            yield _bind("--dev-bind", "/dev/null", real)


def _hold(confinement: Confinement) -> Iterator[Mount]:
    holding = holding_for(confinement)
    covered = set(map(os.path.realpath, confinement.hidden))
    for place in holding.pinned:
        yield _bind("--bind", place)
    for place in holding.read_only:
        if place not in covered:
            yield _bind("--ro-bind", place)
    for place in holding.missing:
        yield place, ("--tmpfs", place)


def _bind(option: str, source: str, place: str | None = None) -> Mount:
    return place or source, (option, source, place or source)


def _depth(place: str) -> int:
    return len([name for name in place.split("/") if name])
