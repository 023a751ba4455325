"""Filters of system calls, for what mounts and Landlock leave open; written by hand as BPF.

A filter says no to single calls and yes to all others: a command that needs one of them finds it
missing, as it would on an older kernel.
"""

import os
import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache

# The number of each call on x86_64, and on the machines that share the kernel's generic table;
# a dash where a machine doesn't have it.
_NUMBERS = """
    open 2 -              openat 257 56         openat2 437 437       truncate 76 45
    socket 41 198         io_uring_setup 425 425 io_uring_enter 426 426 io_uring_register 427 427
    add_key 248 217       request_key 249 218   keyctl 250 219
    ptrace 101 117        process_vm_readv 310 270 process_vm_writev 311 271 kcmp 312 272
    pidfd_getfd 438 438   process_madvise 440 440
    mount 165 40          umount2 166 39        pivot_root 155 41     chroot 161 51
    open_tree 428 428     move_mount 429 429    fsopen 430 430        fsconfig 431 431
    fsmount 432 432       fspick 433 433        mount_setattr 442 442 open_tree_attr 467 467
    unshare 272 97        setns 308 268         clone 56 220          clone3 435 435
    bpf 321 280           perf_event_open 298 241 userfaultfd 323 282
    init_module 175 105   finit_module 313 273  delete_module 176 106 kexec_load 246 104
    kexec_file_load 320 294 reboot 169 142      swapon 167 224        swapoff 168 225
    open_by_handle_at 304 265 quotactl 179 60   quotactl_fd 443 443   acct 163 89
    settimeofday 164 170  clock_settime 227 112 sethostname 170 161
    chmod 90 -            fchmod 91 52          fchmodat 268 53       fchmodat2 452 452
    chown 92 -            fchown 93 55          lchown 94 -           fchownat 260 54
    utime 132 -           utimes 235 -          futimesat 261 -       utimensat 280 88
    setxattr 188 5        lsetxattr 189 6       fsetxattr 190 7       setxattrat 463 463
    removexattr 197 14    lremovexattr 198 15   fremovexattr 199 16   removexattrat 466 466
    file_setattr 469 469
    mq_open 240 180       mq_unlink 241 181     msgget 68 186         semget 64 190
    shmget 29 194         shmat 30 196          shmctl 31 195         semctl 66 191
    msgctl 71 187         msgsnd 69 189         msgrcv 70 188         semop 65 193
    semtimedop 220 192    ioctl 16 29           fcntl 72 25
    kill 62 129           tkill 200 130         tgkill 234 131        rt_sigqueueinfo 129 138
    rt_tgsigqueueinfo 297 240 pidfd_send_signal 424 424
    setpriority 141 140   ioprio_set 251 30     sched_setaffinity 203 122
    sched_setparam 142 118 sched_setscheduler 144 119 sched_setattr 314 274 prlimit64 302 261
"""

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7, "riscv64": 0xC00000F3}
MACHINES = frozenset(_ARCHITECTURES)
"""Where there are filters."""
_FIRST_X32_CALL = 0x40000000

UNIX, INET, INET6, NETLINK = 1, 2, 10, 16
_EPERM, _EACCES, _ENOSYS = 1, 13, 38

# Ways around a sandbox, or to what the kernel keeps for all processes of a user.
_NEVER = """
    add_key request_key keyctl ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd
    process_madvise mount umount2 pivot_root chroot open_tree move_mount fsopen fsconfig fsmount
    fspick mount_setattr open_tree_attr unshare setns bpf perf_event_open userfaultfd init_module
    finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff open_by_handle_at
    quotactl quotactl_fd acct settimeofday clock_settime sethostname
"""
# What programs can do without, and must be told so: they try the older call then.
_MISSING = "io_uring_setup io_uring_enter io_uring_register clone3"
# What changes files without opening them, and shared memory that outlives a command.
_CHANGES = """
    chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes futimesat utimensat
    setxattr lsetxattr fsetxattr setxattrat removexattr lremovexattr fremovexattr removexattrat
    file_setattr mq_open mq_unlink msgget msgctl msgsnd msgrcv semget semctl semop semtimedop
    shmget shmat shmctl
"""
_SIGNALS = "tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal"
# What these are about: the first argument must be 0, the caller itself …
_ABOUT_PROCESSES = "sched_setaffinity sched_setparam sched_setscheduler sched_setattr prlimit64"
# … or, after a first argument that says so: a process, not a group or all of a user.
_ABOUT_ANYBODY = {"setpriority": 0, "ioprio_set": 1}
# Of the orders to files: those for terminals and descriptors, and those that only tell something.
_TERMINAL_ORDERS = 0x5400
_TELLING_ORDERS = (0x80086601, 0x80047601, 0x801C581F, 0xC020660B)
_SET_OWNER = (8, 15)
_NEW_NAMESPACES = 0x7E020000

Instruction = tuple[int, int, int, int]
_LOAD, _AND, _IS, _AT_LEAST, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16


@lru_cache(maxsize=16)
def build_filter(
    machine: str,
    *,
    sockets: tuple[int, ...],
    is_read_only: bool,
    may_truncate: bool = True,
    may_signal: bool = True,
) -> bytes:
    """The filter for a command as the kernel takes it.

    `sockets` are the families that it may use. `may_truncate` and `may_signal` are False where
    nothing else keeps a command from emptying files that it can read, or from sending signals to
    processes outside.
    """
    numbers = _numbers(machine)
    program = _opening(machine)
    program += _for_each(_NEVER, numbers, [_refuse(_EPERM)])
    program += _for_each(_MISSING, numbers, [_refuse(_ENOSYS)])
    program += _for_each("clone", numbers, _unless_bits(0, _NEW_NAMESPACES))
    program += _for_each("socket", numbers, _only(0, sockets, _EACCES))
    if is_read_only:
        program += _for_each(_CHANGES, numbers, [_refuse(_EPERM)])
        program += _for_each(_ABOUT_PROCESSES, numbers, _only(0, (0,), _EPERM))
        for name, kind in _ABOUT_ANYBODY.items():
            program += _for_each(name, numbers, _only_itself(kind))
        program += _for_each("ioctl", numbers, _harmless_orders())
    if not may_truncate:
        program += _for_each("truncate", numbers, [_refuse(_EACCES)])
        program += _for_each("openat2", numbers, [_refuse(_ENOSYS)])
        program += _for_each("openat", numbers, _no_truncating(2))
        program += _for_each("open", numbers, _no_truncating(1))
    if not may_signal:
        program += _for_each(_SIGNALS, numbers, [_refuse(_EPERM)])
        program += _for_each("kill", numbers, _only(0, (0,), _EPERM))
        program += _for_each("fcntl", numbers, _none_of(1, _SET_OWNER))  # it names who gets SIGIO
    program.append((_RETURN, 0, 0, _ALLOW))
    order = sys.byteorder
    return b"".join(
        operation.to_bytes(2, order) + bytes((yes, no)) + value.to_bytes(4, order)
        for operation, yes, no, value in program
    )


def _numbers(machine: str) -> dict[str, int]:
    fields = _NUMBERS.split()
    column = 1 if machine == "x86_64" else 2
    return {
        name: int(number)
        for name, number in zip(fields[::3], fields[column::3], strict=True)
        if number != "-"
    }


def _opening(machine: str) -> list[Instruction]:
    """Calls of another architecture have other numbers, so there are none."""
    program = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_IS, 1, 0, _ARCHITECTURES[machine]),
        _refuse(_ENOSYS),
        (_LOAD, 0, 0, _NUMBER_AT),
    ]
    if machine == "x86_64":
        program += [(_AT_LEAST, 0, 1, _FIRST_X32_CALL), _refuse(_ENOSYS)]
    return program


def _for_each(
    names: str, numbers: dict[str, int], then: list[Instruction]
) -> Iterable[Instruction]:
    """Instructions that count for these calls only; they must all return."""
    for name in names.split():
        if name in numbers:
            yield (_IS, 0, len(then), numbers[name])
            yield from then


def _only(argument: int, allowed: Sequence[int], error: int) -> list[Instruction]:
    """Refuse the call unless an argument has one of these values."""
    checks = [(_IS, len(allowed) - place, 0, value) for place, value in enumerate(allowed)]
    return [_load(argument), *checks, _refuse(error), (_RETURN, 0, 0, _ALLOW)]


def _none_of(argument: int, refused: Sequence[int]) -> list[Instruction]:
    """Refuse the call if an argument has one of these values."""
    checks = [(_IS, len(refused) - place, 0, value) for place, value in enumerate(refused)]
    return [_load(argument), *checks, (_RETURN, 0, 0, _ALLOW), _refuse(_EPERM)]


def _only_itself(kind: int) -> list[Instruction]:
    """Refuse the call unless it is about one process, and that is the caller."""
    return [_load(0), (_IS, 1, 0, kind), _refuse(_EPERM), *_only(1, (0,), _EPERM)]


def _harmless_orders() -> list[Instruction]:
    orders = _only(1, _TELLING_ORDERS, _EPERM)
    is_for_terminals = [_load(1), (_AND, 0, 0, 0xFFFFFF00), (_IS, 0, 1, _TERMINAL_ORDERS)]
    return [*is_for_terminals, (_RETURN, 0, 0, _ALLOW), *orders]


def _unless_bits(argument: int, bits: int) -> list[Instruction]:
    """Refuse the call if an argument has any of these bits."""
    return [
        _load(argument),
        (_AND, 0, 0, bits),
        (_IS, 1, 0, 0),
        _refuse(_EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _no_truncating(argument: int) -> list[Instruction]:
    """Opening for reading can empty a file; opening for writing is Landlock's to refuse."""
    return [
        _load(argument),
        (_AND, 0, 0, os.O_TRUNC | os.O_ACCMODE),
        (_IS, 0, 1, os.O_TRUNC),
        _refuse(_EACCES),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _load(argument: int) -> Instruction:
    return (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * argument)


def _refuse(number: int) -> Instruction:
    return (_RETURN, 0, 0, _ERROR | number)
