"""Finds the programs we bring along or need, never in the folder we happen to be in."""

import os
import shutil
import sys
from functools import cache
from pathlib import Path

from agent_cli.lib.search_path import absolute_path


@cache
def find_program(name: str) -> str | None:
    """The path of a program: beside our own Python first (where pip puts it), then on PATH."""
    beside = Path(sys.executable).parent / name
    if beside.is_file():
        return str(beside)
    return shutil.which(name, path=absolute_path(os.environ.get("PATH", "")))
