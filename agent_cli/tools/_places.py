"""Where a search starts, and how what it finds is named."""

import os
from dataclasses import dataclass

from agent_cli.core.errors import refuse
from agent_cli.core.tool_context import ToolContext
from agent_cli.tools._aliases import other_names
from agent_cli.tools._files import resolve, show_path
from agent_cli.tools._nearby import missing

PLACE_ALIASES = other_names(path="directory dir dir_path target_directory")
"""Other names under which models give the directory of a search."""


@dataclass(frozen=True)
class SearchRoot:
    """A directory to search, or one file in it."""

    real: str
    directory: str
    """Where ripgrep runs: globs with a slash are relative to it."""

    @property
    def is_file(self) -> bool:
        """Whether one file alone is searched."""
        return self.real != self.directory

    @property
    def prefix(self) -> str:
        """What the paths of everything in the directory begin with."""
        return self.directory if self.directory.endswith("/") else f"{self.directory}/"


def find_place(path: str, context: ToolContext) -> SearchRoot:
    """The place a path names, or a failure that says what is there instead."""
    found = resolve(context, path or ".")
    if found.is_directory:
        return SearchRoot(found.real, found.real)
    if not found.exists:
        raise missing(found, context.workspace)
    if found.kind is not None:
        raise refuse(f"{show_path(found)} is {found.kind}, not a file or directory.")
    return SearchRoot(found.real, os.path.dirname(found.real))  # noqa: PTH120 (text, as resolved)


class PathNames:
    """Shows paths as the model can use them: relative to the workspace where they are inside."""

    def __init__(self, context: ToolContext) -> None:
        root = context.workspace.root
        self._prefix = root if root.endswith("/") else root + "/"

    def format(self, path: str) -> str:
        """The path as one line of text, whatever characters are in it."""
        name = path.removeprefix(self._prefix)
        return name if name.isprintable() else one_line(name)


def one_line(name: str) -> str:
    """A name with what cannot be printed spelled out, in quotes to show that this was done."""
    return '"' + "".join(c if c.isprintable() else _spell(c) for c in name) + '"'


def _spell(character: str) -> str:
    if "\udc80" <= character <= "\udcff":  # a byte that isn't UTF-8, as the system decodes it
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


def decode(path: bytes) -> str:
    """A path from ripgrep as Python spells paths."""
    return path.decode("utf-8", "surrogateescape")


def newest_first(paths: list[str]) -> list[str]:
    """The paths by the time of their last change; those that are gone come last."""
    return sorted(paths, key=lambda path: (-_change_time(path), path))


def _change_time(path: str) -> int:
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return 0
