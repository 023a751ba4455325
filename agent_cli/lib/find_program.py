"""Finds the programs we bring along or need."""

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
    return shutil.which(name)
