"""What our Landlock helper is told for a confinement."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from agent_cli.safety.sandbox import landlock_exec, seccomp
from agent_cli.safety.sandbox.confinement import Confinement, Profile
from agent_cli.safety.sandbox.landlock_exec import (
    EXECUTE,
    IOCTL_DEV,
    READ_DIR,
    READ_FILE,
    REFER,
    TRUNCATE,
)

HELPER = os.path.abspath(landlock_exec.__file__)  # noqa: PTH100
# The other devices are disks and terminals; a shared /dev/shm belongs to everybody.
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

_FIRST_RIGHTS = (1 << 13) - 1
_LATER_RIGHTS = ((2, REFER), (3, TRUNCATE), (5, IOCTL_DEV))
_READING = EXECUTE | READ_FILE | READ_DIR
_TCP = 0b11
_SCOPES = 0b11

_ALWAYS = (
    "protected files inside the workspace can be changed; such changes are undone and asked about",
    "nothing inside a writable directory can be hidden",
    "names of hidden files can be listed",
    "modes, owners and times of your files can be changed everywhere",
    "/tmp is not writable, only $TMPDIR is",
    "no sockets in the file system, no shared memory, no terminals",
)


def limits(version: int, machine: str) -> tuple[str, ...]:
    """What this version of Landlock cannot do, in words."""
    has_filter = machine in seccomp.MACHINES
    found = list(_ALWAYS)
    if not has_filter:
        found.append("daemons that listen on sockets in the file system can be reached")
        found.append(f"{'UDP' if version >= 4 else 'the network'} is not blocked")
    if version < 6:
        found.append("processes outside can be sent signals")
    if version < 3 and not has_filter:
        found.append("files outside can be emptied")
    if version < 2:
        found.append("files cannot be moved between directories")
    return tuple(found)


def command_line(argv: Sequence[str], confinement: Confinement) -> list[str]:
    """What to execute instead of `argv`; its first word must be a path."""
    # Nothing from the environment or the directory gets into the helper.
    return [sys.executable, "-I", "-S", HELPER, *orders(confinement), "--", *argv]


def orders(confinement: Confinement, version: int | None = None) -> list[str]:
    """The helper's options for a confinement; for an older version of Landlock in tests."""
    version = landlock_exec.abi() if version is None else version
    rights = _FIRST_RIGHTS
    for since, right in _LATER_RIGHTS:
        rights |= right if version >= since else 0
    fields = [rights]
    if version >= 4:
        fields.append(0 if confinement.network else _TCP)
    if version >= 6:
        fields.append(_SCOPES)
    machine = os.uname().machine
    code: tuple[str, ...] = ()
    if machine in seccomp.MACHINES:
        code = ("-f", _filter(machine, version, confinement).hex())
    return [
        "-l",
        ",".join(map(str, fields)),
        *code,
        *(word for each in _rules(confinement, rights) for word in ("-a", str(each[0]), each[1])),
    ]


def _filter(machine: str, version: int, confinement: Confinement) -> bytes:
    """For what Landlock does not cover: sockets, and truncation and signals before it knew them."""
    is_read_only = confinement.profile is Profile.READ_ONLY
    # A socket in the file system leads to daemons that are not confined; those stay out of reach.
    sockets: tuple[int, ...] = () if is_read_only else (seccomp.NETLINK,)
    if confinement.network:
        sockets += (seccomp.INET, seccomp.INET6)
    return seccomp.build_filter(
        machine,
        sockets=sockets,
        is_read_only=is_read_only,
        may_truncate=version >= 3,
        may_signal=version >= 6 or not is_read_only,
    )


def _rules(confinement: Confinement, rights: int) -> Iterator[tuple[int, str]]:
    is_read_only = confinement.profile is Profile.READ_ONLY
    for path, is_whole in readable_places(confinement):
        yield _READING if is_whole else READ_DIR, path
    for path in confinement.writable:
        yield rights, path
    for path in _DEVICES:
        yield (_READING if is_read_only and path != "/dev/null" else rights), path


def readable_places(confinement: Confinement) -> Iterator[tuple[str, bool]]:
    """What can be read: whole trees, and directories below which only names can be listed.

    Landlock cannot subtract, so around what is hidden everything else is named.
    """
    marked = {"/": True, "/dev": False}
    marked |= dict.fromkeys(map(os.path.realpath, confinement.hidden), False)
    marked |= dict.fromkeys(map(os.path.realpath, confinement.readable), True)
    below: dict[str, set[str]] = {}
    for path in marked:
        while path != "/" and path not in below.setdefault(parent := _parent(path), set()):
            below[parent].add(path)
            path = parent
    yield from _grants("/", marked, below, is_visible=marked["/"])


def _grants(
    directory: str,
    marked: Mapping[str, bool],
    below: Mapping[str, set[str]],
    *,
    is_visible: bool,
) -> Iterator[tuple[str, bool]]:
    special = below.get(directory, set())
    if not special:
        if is_visible:
            yield directory, True
        return
    if is_visible:
        yield directory, False
        for path in _entries(directory):
            if path not in special:
                yield path, True
    for path in sorted(special):
        yield from _grants(path, marked, below, is_visible=marked.get(path, is_visible))


def _entries(directory: str) -> list[str]:
    """What is in a directory, but for links: what they lead to is readable or not where it is."""
    try:
        with os.scandir(directory) as found:
            return sorted(entry.path for entry in found if not entry.is_symlink())
    except OSError:
        return []


def _parent(path: str) -> str:
    return str(PurePosixPath(path).parent)
