"""Takes variables out of this process's environment, traces in memory included.

`del os.environ[…]` leaves the text where the kernel put it at start, and `/proc/PID/environ` shows
it to every process of the same user: to any command the agent runs.
"""

import ctypes
import os
import sys
from collections.abc import Collection


def forget(names: Collection[str]) -> None:
    """Remove variables and overwrite their first values."""
    if sys.platform == "linux":
        _overwrite({os.fsencode(name) for name in names})
    for name in names:
        os.environ.pop(name, None)


def _overwrite(names: Collection[bytes]) -> None:
    """Fill the value of each of these variables in the block the kernel made with zeros."""
    block = ctypes.POINTER(ctypes.c_void_p).in_dll(ctypes.CDLL(None), "environ")
    index = 0
    while address := block[index]:
        entry = ctypes.string_at(address)
        name, _, value = entry.partition(b"=")
        if name in names:
            ctypes.memset(address + len(name) + 1, 0, len(value))
        index += 1
