"""Confines itself with Landlock and seccomp, then becomes the command it is given.

    python -I -S landlock_exec.py -l FIELDS [-f FILTER] [-a RIGHTS PATH]… -- COMMAND…
    python -I -S landlock_exec.py --serve DESCRIPTOR

-l are the fields of a Landlock ruleset, -f is a seccomp filter, -a gives rights to a place and all
below it. With --serve it waits for such orders on a socket and starts each command as a child of
its own parent: so only the first command has to wait for Python. It imports next to nothing; and
it fails rather than run something unconfined.
"""

# ruff: noqa: PTH123

import ctypes
import os
import socket
import stat
import sys

FAILED = 125

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1
_SET_NO_NEW_PRIVS, _SET_SECCOMP, _CAPBSET_DROP, _CAP_AMBIENT = 38, 22, 24, 47
_CAP_AMBIENT_CLEAR_ALL = 4
_SECCOMP_FILTER = 2
_BYTES_PER_INSTRUCTION = 8
_SIGPIPE, _SIGXFSZ, _SIGCHLD = 13, 25, 17
_CLONE_PARENT = 0x00008000
CLONE = {"x86_64": 56, "aarch64": 220, "riscv64": 220}
"""The number of the call that makes a child; where it is not known there is no server."""

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV

HEADER_BYTES = 8
MAX_DESCRIPTORS = 8


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


_libc = ctypes.CDLL(None, use_errno=True)


def abi() -> int:
    """The version of Landlock that the kernel has; 0 for none."""
    return max(0, int(_libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)))


def confine(orders: list[str]) -> None:
    """Confine this process and all that it starts; raises OSError if that is not possible."""
    fields: list[int] = []
    code = b""
    rules: list[tuple[int, str]] = []
    rest = iter(orders)
    for option in rest:
        if option == "-l":
            fields = [int(field) for field in next(rest).split(",")]
        elif option == "-f":
            code = bytes.fromhex(next(rest))
        else:
            rules.append((int(next(rest)), next(rest)))
    _drop_capabilities()
    _check(_libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    attributes = b"".join(field.to_bytes(8, sys.byteorder) for field in fields)
    size = ctypes.c_size_t(len(attributes))
    ruleset = _check(_libc.syscall(_CREATE_RULESET, attributes, size, 0), "Landlock")
    try:
        for rights, path in rules:
            _allow(ruleset, path, rights)
        _check(_libc.syscall(_RESTRICT_SELF, ruleset, 0), "Landlock")
    finally:
        os.close(ruleset)
    if code:
        _filter_calls(code)


def serve(descriptor: int) -> None:
    """Start what is asked for until nobody is there to ask."""
    os.set_inheritable(descriptor, False)  # noqa: FBT003 (it has no name)
    asked = socket.socket(fileno=descriptor)
    number = CLONE[os.uname().machine]
    while True:
        header, given, _, _ = socket.recv_fds(
            asked, HEADER_BYTES, MAX_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
        )
        if not header:
            return
        order = _receive(asked, int.from_bytes(header, sys.byteorder))
        child = _libc.syscall(number, _CLONE_PARENT | _SIGCHLD, 0, 0, 0, 0)
        if child == 0:
            _become(order, given)
        error = ctypes.get_errno() if child < 0 else 0
        asked.sendall((-error if error else child).to_bytes(8, sys.byteorder, signed=True))
        for each in given:
            os.close(each)


def _receive(asked: socket.socket, size: int) -> bytes:
    taken = bytearray()
    while len(taken) < size:
        piece = asked.recv(size - len(taken))
        if not piece:
            os._exit(0)
        taken += piece
    return bytes(taken)


def _become(order: bytes, given: list[int]) -> None:
    """Turn into the command of an order: directory, descriptors, confinement, command, variables.

    The first descriptors are standard input and output; each other has a number it must get.
    """
    try:
        counts, *words = os.fsdecode(order).split("\0")
        parts = []
        for count in map(int, counts.split(",")):
            parts.append(words[:count])
            del words[:count]
        (directory, *numbers), orders, command, variables = parts
        os.setsid()
        for source, number in zip(given, (0, 1, 2, *map(int, numbers)), strict=True):
            os.dup2(source, number)
        os.chdir(directory)
        confine(orders)
        _execute(command, dict(pair.split("=", 1) for pair in variables))
    except BaseException as error:  # whatever it is, nothing of us may live on as a second server
        _fail(f"the sandbox could not be set up: {error}")


def main(arguments: list[str]) -> None:
    """Serve, or confine ourselves and become the command."""
    if arguments[0] == "--serve":
        serve(int(arguments[1]))
        return
    split = arguments.index("--")
    try:
        confine(arguments[:split])
    except OSError as error:
        _fail(f"the sandbox could not be set up: {error}")
    _execute(arguments[split + 1 :], _given_environment())


def _execute(command: list[str], environment: dict[str, str]) -> None:
    # Python ignores these for itself; the command must find them as we did.
    _libc.signal(_SIGPIPE, None)
    _libc.signal(_SIGXFSZ, None)
    try:
        os.execve(command[0], command, environment)
    except OSError as error:
        _fail(f"{command[0]}: {error.strerror}")


def _given_environment() -> dict[str, str]:
    """The environment as it was given; Python may have added to its own."""
    with open("/proc/self/environ", "rb") as file:
        pairs = os.fsdecode(file.read()).split("\0")
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)


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
        if not rights:
            return
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


def _filter_calls(code: bytes) -> None:
    buffer = ctypes.create_string_buffer(code, len(code))
    attributes = _Program(len(code) // _BYTES_PER_INSTRUCTION, ctypes.addressof(buffer))
    _check(_libc.prctl(_SET_SECCOMP, _SECCOMP_FILTER, ctypes.byref(attributes), 0, 0), "seccomp")


def _check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
    return int(result)


def _fail(message: str) -> None:
    os.write(2, f"{message}\n".encode("utf-8", "replace"))
    os._exit(FAILED)


if __name__ == "__main__":
    main(sys.argv[1:])
