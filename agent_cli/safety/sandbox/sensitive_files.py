"""Finds by their names the files of a workspace that commands must not read, or not change."""

# ruff: noqa: PTH112, PTH116, PTH119

import os
import re
import stat
import time
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import translate

from agent_cli.safety.sensitive import (
    NOT_SECRET,
    PROTECTED_ANYWHERE,
    PROTECTED_COMPONENTS,
    PROTECTED_NAMES,
    PROTECTED_PAIRS,
    SECRET_COMPONENTS,
    SECRET_NAMES,
)

MAX_DIRECTORIES = 20_000
MAX_ENTRIES = 400_000
_YOUNG_NS = 2_000_000_000
"""A directory that changed so shortly before we looked may have changed again unnoticed."""

# Patterns by their form: there are many names to compare, and hardly any of them fits.
_ENDS = tuple(name[1:] for name in SECRET_NAMES if name[0] == "*" and "*" not in name[1:])
_STARTS = tuple(name[:-1] for name in SECRET_NAMES if name[-1] == "*" and "*" not in name[:-1])
_OTHERS = re.compile(
    "|".join(translate(name) for name in SECRET_NAMES if "*" not in (name[0], name[-1]))
)


@dataclass(frozen=True)
class SensitiveFiles:
    """The sensitive files of a workspace."""

    secret: tuple[str, ...] = ()
    """Files and directories that hold secrets."""
    protected: tuple[str, ...] = ()
    """Files and directories that make something run."""
    is_complete: bool = True
    """False: there are more directories than were looked at."""


@dataclass(frozen=True)
class _Directory:
    stamp: tuple[int, int, int]
    is_settled: bool
    entries: int
    below: tuple[str, ...]
    secret: tuple[str, ...]
    protected: tuple[str, ...]


class SensitiveFinder:
    """Looks through a workspace before each command; what has not changed is looked at once."""

    def __init__(self) -> None:
        self._known: dict[str, _Directory] = {}

    def find(self, roots: Iterable[str]) -> SensitiveFiles:
        """The sensitive files below these directories, as they are now."""
        known, self._known = self._known, {}
        secret: list[str] = []
        protected: list[str] = []
        entries = 0
        waiting = list(roots)
        while waiting:
            if len(self._known) >= MAX_DIRECTORIES or entries >= MAX_ENTRIES:
                return SensitiveFiles(tuple(secret), tuple(protected), is_complete=False)
            path = waiting.pop()
            directory = _look(path, known.get(path))
            if directory is None or path in self._known:
                continue
            self._known[path] = directory
            entries += directory.entries
            secret += directory.secret
            protected += directory.protected
            waiting += directory.below
        return SensitiveFiles(tuple(secret), tuple(protected))


def is_secret_name(name: str) -> bool:
    """Whether a file of this name is taken for a secret, wherever it is."""
    if not name.isascii():
        name = unicodedata.normalize("NFC", name)
    folded = name.casefold()
    fits = folded.endswith(_ENDS) or folded.startswith(_STARTS) or _OTHERS.match(folded) is not None
    return fits and folded not in NOT_SECRET


def _look(path: str, known: _Directory | None) -> _Directory | None:
    try:
        status = os.stat(path, follow_symlinks=False)
        stamp = (status.st_dev, status.st_ino, status.st_ctime_ns)  # nobody can set it back
        if known is not None and known.is_settled and known.stamp == stamp:
            return known
        if not stat.S_ISDIR(status.st_mode):
            return None
        with os.scandir(path) as scan:
            entries = list(scan)
    except OSError:
        return None
    below: list[str] = []
    secret: list[str] = []
    protected: list[str] = []
    here = os.path.basename(path).casefold()
    for entry in entries:
        name = entry.name
        folded = name.casefold()
        is_directory = entry.is_dir(follow_symlinks=False)
        if _is_protected(here, folded, is_directory=is_directory):
            protected.append(entry.path)
        if is_directory:
            if folded in SECRET_COMPONENTS:
                secret.append(entry.path)
            elif not (name == "objects" and "/.git" in path):  # only what was committed
                below.append(entry.path)
        elif is_secret_name(name) and not _leads_to_directory(entry):
            secret.append(entry.path)
    is_settled = time.time_ns() - status.st_ctime_ns > _YOUNG_NS
    return _Directory(
        stamp, is_settled, len(entries), tuple(below), tuple(secret), tuple(protected)
    )


def _is_protected(above: str, name: str, *, is_directory: bool) -> bool:
    if name in PROTECTED_COMPONENTS or (above, name) in PROTECTED_PAIRS:
        return True
    return not is_directory and (name in PROTECTED_NAMES or name in PROTECTED_ANYWHERE)


def _leads_to_directory(entry: "os.DirEntry[str]") -> bool:
    return entry.is_symlink() and os.path.isdir(entry.path)
