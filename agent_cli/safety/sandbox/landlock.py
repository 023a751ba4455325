"""The command line of our Landlock helper for a confinement."""

import os
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import PurePosixPath

from agent_cli.safety.sandbox import landlock_exec
from agent_cli.safety.sandbox.confinement import Confinement

_HELPER = os.path.abspath(landlock_exec.__file__)  # noqa: PTH100
# The other devices are disks and terminals; a shared /dev/shm belongs to everybody.
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

_ALWAYS = (
    "protected files inside the workspace are not protected",
    "nothing inside a writable directory can be hidden",
    "names of hidden files can be listed",
    "modes, owners and times of your files can be changed everywhere",
    "/tmp is not writable, only $TMPDIR is",
    "no sockets in the file system, no shared memory, no terminals",
)


def limits(version: int, machine: str) -> tuple[str, ...]:
    """What this version of Landlock cannot do, in words."""
    has_filter = machine in landlock_exec.MACHINES
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
    readable = (*readable_places(confinement), *confinement.readable)
    return [
        sys.executable,
        "-I",  # nothing from the environment or the directory gets into the helper
        "-S",
        _HELPER,
        *(word for path in readable for word in ("-r", path)),
        *(word for path in (*confinement.writable, *_DEVICES) for word in ("-w", path)),
        *(("-n",) if confinement.network else ()),
        "--",
        *argv,
    ]


def readable_places(confinement: Confinement) -> list[str]:
    """Everything but the hidden places. Landlock cannot subtract, so their siblings are named."""
    hidden = {"/dev", *map(os.path.realpath, confinement.hidden)}
    above = {str(parent) for path in hidden for parent in PurePosixPath(path).parents}
    return list(_around("/", hidden, above))


def _around(directory: str, hidden: Collection[str], above: Collection[str]) -> Iterator[str]:
    try:
        with os.scandir(directory) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.path in hidden or entry.is_symlink():
            continue  # what a link leads to is readable or not where it is
        if entry.path in above:
            yield from _around(entry.path, hidden, above)
        else:
            yield entry.path
