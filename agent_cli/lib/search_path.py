"""The search path for programs, without what depends on the folder we are in."""

import os


def absolute_path(path: str) -> str:
    """A search path without entries such as `.` or `bin`: they mean whatever folder we are in."""
    entries = [entry for entry in path.split(os.pathsep) if os.path.isabs(entry)]  # noqa: PTH117
    return os.pathsep.join(entries) or os.defpath
