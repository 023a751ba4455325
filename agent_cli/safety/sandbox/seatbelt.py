"""The profile of macOS' sandbox-exec for a confinement."""

import re
from collections.abc import Iterator, Sequence

from agent_cli.safety.sandbox.confinement import Confinement

PROGRAM = "/usr/bin/sandbox-exec"
LIMITS = (
    "/tmp is not writable, only $TMPDIR is",
    "what a command leaves running is not ended with it",
)

_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/dtracehelper")
_SERVICES = (
    "com.apple.system.logger",
    "com.apple.system.notification_center",
    "com.apple.system.opendirectoryd.libinfo",
    "com.apple.system.opendirectoryd.membership",
    "com.apple.trustd.agent",
    "com.apple.SecurityServer",
)


def command_line(argv: Sequence[str], confinement: Confinement) -> list[str]:
    """What to execute instead of `argv`."""
    return [PROGRAM, "-p", profile(confinement), *argv]


def profile(confinement: Confinement) -> str:
    """The rules in sandbox-exec's language; of two that match, the later one counts."""
    return "\n".join(_rules(confinement)) + "\n"


def _rules(confinement: Confinement) -> Iterator[str]:
    services = " ".join(f"(global-name {_text(name)})" for name in _SERVICES)
    devices = " ".join(f"(literal {_text(path)})" for path in _DEVICES)
    hidden = [path for path in confinement.hidden if path not in confinement.writable]
    yield "(version 1)"
    yield "(deny default)"
    yield "(allow process-exec process-fork)"
    yield "(allow process-info* signal (target same-sandbox))"
    yield "(allow sysctl-read system-fsctl user-preference-read)"
    yield "(allow ipc-posix-sem ipc-posix-shm)"
    yield f"(allow mach-lookup {services})"
    yield "(allow file-read* file-test-existence)"
    yield f"(allow file-write* file-ioctl {devices})"
    yield from (f"(allow file-write* {_tree(path)})" for path in confinement.writable)
    for path in sorted((*hidden, *confinement.readable), key=len):  # the inner one counts
        if path in confinement.readable:
            yield f"(allow file-read* {_tree(path)})"
        else:
            yield f"(deny file-read* file-write* {_any_case(path)})"
    for path in confinement.writable:
        if any(path.startswith(f"{place}/") for place in hidden):
            yield f"(allow file-read* file-write* {_tree(path)})"
    for path in confinement.read_only_inside:
        yield f"(deny file-write* {_any_case(path)})"
    for path in _above_protected(confinement):
        # A directory that is moved away would take what is protected in it along.
        yield f"(deny file-write-unlink (literal {_text(path)}))"
    if confinement.network:
        yield '(allow network-outbound (remote ip "*:*"))'
        yield '(allow network-inbound network-bind (local ip "*:*"))'
        yield "(allow system-socket)"


def _above_protected(confinement: Confinement) -> list[str]:
    found: dict[str, None] = {}
    for path in confinement.read_only_inside:
        for root in confinement.writable:
            if not path.startswith(f"{root}/"):
                continue
            names = path[len(root) + 1 :].split("/")[:-1]
            found |= {f"{root}/{'/'.join(names[: n + 1])}": None for n in range(len(names))}
            found[root] = None
    return list(found)


def _tree(path: str) -> str:
    return f"(subpath {_text(path)})"


def _any_case(path: str) -> str:
    """A place and all below it, however its letters are written: the disk may not care."""
    return f'(regex #"^{"".join(map(_loosely, path.rstrip("/")))}(/|$)")'


def _loosely(character: str) -> str:
    if not character.isascii() or character == '"':
        return ".+"  # written in several ways, or not at all in a profile: rather too much
    if character.isalpha():
        return f"[{character.lower()}{character.upper()}]"
    return character if character == "/" else re.escape(character)


def _text(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
