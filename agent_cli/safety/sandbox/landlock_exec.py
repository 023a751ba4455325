"""Confines itself with Landlock and seccomp, then becomes the command it is given.

    python -I -S landlock_exec.py [-r PATH]… [-w PATH]… [-n] -- COMMAND…

-r lets a place be read and run, -w also be changed, -n lets the network be used. It runs before
every confined command, so it imports next to nothing; and it fails rather than run unconfined.
"""

# ruff: noqa: PTH123

import ctypes
import os
import stat
import sys

FAILED = 125

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1
_SET_NO_NEW_PRIVS, _SET_SECCOMP, _CAPBSET_DROP, _CAP_AMBIENT = 38, 22, 24, 47
_CAP_AMBIENT_CLEAR_ALL = 4
_SECCOMP_FILTER = 2
_SIGPIPE, _SIGXFSZ = 13, 25

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_FIRST_RIGHTS = (1 << 13) - 1
_FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
_READING = EXECUTE | READ_FILE | READ_DIR
_TCP = 0b11
_SCOPES = 0b11

# Of each machine: its name for the kernel, and the numbers of the calls that are looked at.
_SOCKET, _TRUNCATE, _OPEN, _OPENAT, _OPENAT2, _IO_URING_SETUP = range(6)
_GENERIC = {_SOCKET: 198, _TRUNCATE: 45, _OPENAT: 56, _OPENAT2: 437, _IO_URING_SETUP: 425}
MACHINES = {
    "x86_64": (
        0xC000003E,
        {_SOCKET: 41, _TRUNCATE: 76, _OPEN: 2, _OPENAT: 257, _OPENAT2: 437, _IO_URING_SETUP: 425},
    ),
    "aarch64": (0xC00000B7, _GENERIC),
    "riscv64": (0xC00000F3, _GENERIC),
}
_FIRST_X32_CALL = 0x40000000
_INET, _INET6, _NETLINK = 2, 10, 16
_EACCES, _ENOSYS = 13, 38

Instruction = tuple[int, int, int, int]
_LOAD, _AND, _IS, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


_libc = ctypes.CDLL(None, use_errno=True)


def abi() -> int:
    """The version of Landlock that the kernel has; 0 for none."""
    return max(0, int(_libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)))


def restrict(
    version: int, readable: list[str], writable: list[str], *, network: bool, machine: str
) -> None:
    """Confine this process and all that it starts; raises OSError if that is not possible."""
    _drop_capabilities()
    _check(_libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    handled = _rights(version)
    ruleset = _create(version, handled, network=network)
    try:
        # Names can be listed everywhere: what is hidden is content.
        _allow(ruleset, "/", READ_DIR)
        for path in readable:
            _allow(ruleset, path, _READING & handled)
        for path in writable:
            _allow(ruleset, path, handled)
        _check(_libc.syscall(_RESTRICT_SELF, ruleset, 0), "Landlock")
    finally:
        os.close(ruleset)
    if machine in MACHINES:
        _filter_calls(filter_for(machine, version, network=network))


def filter_for(machine: str, version: int, *, network: bool) -> list[Instruction]:
    """A seccomp program for what Landlock does not cover: sockets, and truncation before ABI 3."""
    architecture, numbers = MACHINES[machine]
    # A socket in the file system leads to daemons that are not confined; those stay out of reach.
    families = (_INET, _INET6, _NETLINK) if network else (_NETLINK,)
    program = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_IS, 1, 0, architecture),
        _refuse(_ENOSYS),
        (_LOAD, 0, 0, _NUMBER_AT),
    ]
    if machine == "x86_64":
        program += [(_AT_LEAST, 0, 1, _FIRST_X32_CALL), _refuse(_ENOSYS)]
    program += _when(numbers[_IO_URING_SETUP], [_refuse(_ENOSYS)])
    program += _when(numbers[_SOCKET], _only_these(families))
    if version < 3:
        program += _when(numbers[_TRUNCATE], [_refuse(_EACCES)])
        program += _when(numbers[_OPENAT2], [_refuse(_ENOSYS)])
        program += _when(numbers[_OPENAT], _no_truncating(2))
        if _OPEN in numbers:
            program += _when(numbers[_OPEN], _no_truncating(1))
    return [*program, (_RETURN, 0, 0, _ALLOW)]


def main(arguments: list[str]) -> None:
    """Read the options, confine, become the command."""
    readable: list[str] = []
    writable: list[str] = []
    network = False
    rest = iter(arguments)
    for option in rest:
        if option == "--":
            break
        if option == "-n":
            network = True
        else:
            {"-r": readable, "-w": writable}[option].append(next(rest))
    command = list(rest)
    try:
        restrict(abi(), readable, writable, network=network, machine=os.uname().machine)
    except OSError as error:
        _fail(f"the sandbox could not be set up: {error}")
    # Python ignores these for itself; the command must find them as we did.
    _libc.signal(_SIGPIPE, None)
    _libc.signal(_SIGXFSZ, None)
    try:
        os.execve(command[0], command, _given_environment())
    except OSError as error:
        _fail(f"{command[0]}: {error.strerror}")


def _given_environment() -> dict[bytes, bytes]:
    """The environment as it was given; Python may have added to its own."""
    with open("/proc/self/environ", "rb") as file:
        pairs = file.read().split(b"\0")
    return dict(pair.split(b"=", 1) for pair in pairs if b"=" in pair)


def _rights(version: int) -> int:
    rights = _FIRST_RIGHTS
    for since, right in ((2, REFER), (3, TRUNCATE), (5, IOCTL_DEV)):
        if version >= since:
            rights |= right
    return rights


def _create(version: int, rights: int, *, network: bool) -> int:
    fields = [rights]
    if version >= 4:
        fields.append(0 if network else _TCP)
    if version >= 6:
        fields.append(_SCOPES)
    attributes = b"".join(field.to_bytes(8, sys.byteorder) for field in fields)
    size = ctypes.c_size_t(len(attributes))
    return _check(_libc.syscall(_CREATE_RULESET, attributes, size, 0), "Landlock")


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no rule
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISLNK(mode):
            return
        if not stat.S_ISDIR(mode):
            rights &= _FILE_RIGHTS
        order = sys.byteorder
        attributes = rights.to_bytes(8, order) + descriptor.to_bytes(4, order)
        added = _libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, attributes, 0)
        _check(added, path)
    finally:
        os.close(descriptor)


def _drop_capabilities() -> None:
    # For root only; others have none, and are refused.
    for capability in range(64):
        _libc.prctl(_CAPBSET_DROP, capability, 0, 0, 0)
    _libc.prctl(_CAP_AMBIENT, _CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)


def _filter_calls(program: list[Instruction]) -> None:
    order = sys.byteorder
    code = b"".join(
        operation.to_bytes(2, order) + bytes((yes, no)) + value.to_bytes(4, order)
        for operation, yes, no, value in program
    )
    buffer = ctypes.create_string_buffer(code, len(code))
    attributes = _Program(len(program), ctypes.addressof(buffer))
    _check(_libc.prctl(_SET_SECCOMP, _SECCOMP_FILTER, ctypes.byref(attributes), 0, 0), "seccomp")


def _when(number: int, then: list[Instruction]) -> list[Instruction]:
    """Instructions that count for one call only; they must all return."""
    return [(_IS, 0, len(then), number), *then]


def _only_these(families: tuple[int, ...]) -> list[Instruction]:
    checks = [(_IS, len(families) - place, 0, family) for place, family in enumerate(families)]
    return [
        (_LOAD, 0, 0, _ARGUMENTS_AT),
        *checks,
        _refuse(_EACCES),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _no_truncating(argument: int) -> list[Instruction]:
    """Opening for reading can empty a file; opening for writing is Landlock's to refuse."""
    return [
        (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * argument),
        (_AND, 0, 0, os.O_TRUNC | os.O_ACCMODE),
        (_IS, 0, 1, os.O_TRUNC),
        _refuse(_EACCES),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _refuse(number: int) -> Instruction:
    return (_RETURN, 0, 0, _ERROR | number)


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
    return int(result)


def _fail(message: str) -> None:
    os.write(2, f"{message}\n".encode())
    os._exit(FAILED)


if __name__ == "__main__":
    main(sys.argv[1:])
