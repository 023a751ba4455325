"""What a command that was read would do to which paths."""

# Paths are handled as the kernel sees them: pathlib would drop or merge parts.
# ruff: noqa: PTH118, PTH119, PTH120

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from agent_cli.safety.impact.clock import Clock


@dataclass(frozen=True)
class ImpactStep:
    """One thing done to some paths, before anything is counted."""

    verb: str
    paths: tuple[str, ...]
    """Real paths of what is struck itself."""
    is_deep: bool = False
    """All below a directory is struck too."""
    in_git: bool | None = None
    """Whether git has the files, when that is known already."""
    is_partial: bool = False
    """There was no time to find all paths."""


def plan(verb: str, paths: Iterable[str], *, is_deep: bool = False) -> list[ImpactStep]:
    """A plan for the paths, each once; none for no paths."""
    unique = tuple(dict.fromkeys(paths))
    return [ImpactStep(verb, unique, is_deep)] if unique else []


def as_partial(plans: list[ImpactStep]) -> list[ImpactStep]:
    """The same plans, known not to hold all paths."""
    return [replace(each, is_partial=True) for each in plans]


def entry(word: str, cwd: str) -> str:
    """The real path of the directory entry itself; a final link is not followed."""
    path = os.path.join(cwd, word)
    name = os.path.basename(path)
    # With a slash at its end the kernel follows a link, and so do the tools.
    if name in {"", ".", ".."}:
        return os.path.realpath(path)
    return os.path.join(_real_directory(os.path.dirname(path)), name)


def behind(word: str, cwd: str) -> str:
    """The real path of the file that would be opened."""
    path = entry(word, cwd)
    mode = mode_of(path)
    return os.path.realpath(path) if mode is None or stat.S_ISLNK(mode) else path


@lru_cache(maxsize=1024)
def _real_directory(path: str) -> str:
    return os.path.realpath(path)


def look_afresh() -> None:
    """Forget where directories lead: each count looks at the disk as it is then."""
    _real_directory.cache_clear()


def mode_of(path: str) -> int | None:
    """The mode of what is there, or None when there is nothing."""
    try:
        return os.lstat(path).st_mode
    except (OSError, ValueError):
        return None


def exists(path: str) -> bool:
    """Whether anything is there, a dangling link included."""
    return mode_of(path) is not None


def is_directory(path: str) -> bool:
    """Whether it is a directory itself, no link to one."""
    mode = mode_of(path)
    return mode is not None and stat.S_ISDIR(mode)


def is_other(path: str) -> bool:
    """Whether anything but a directory is there, a link to one included."""
    mode = mode_of(path)
    return mode is not None and not stat.S_ISDIR(mode)


def opened_files(words: Iterable[str], cwd: str, clock: Clock) -> list[str]:
    """The regular files that would be opened; what does not exist yet loses nothing."""
    paths = (behind(word, cwd) for word in clock.within(words))
    return [path for path in paths if stat.S_ISREG(mode_of(path) or 0)]
