"""Finds the programs we bring along or need, never in the folder we happen to be in."""

import os
import shutil
import sys
from functools import cache
from pathlib import Path


@cache
def find_program(name: str) -> str | None:
    """The path of a program: beside our own Python first (where pip puts it), then on PATH."""
    beside = Path(sys.executable).parent / name
    if beside.is_file():
        return str(beside)
    return shutil.which(name, path=absolute_path(os.environ.get("PATH", "")))


def absolute_path(path: str) -> str:
    """A search path without entries such as `.` or `bin`: they mean whatever folder we are in."""
    entries = [entry for entry in path.split(os.pathsep) if os.path.isabs(entry)]  # noqa: PTH117
    return os.pathsep.join(entries) or os.defpath
