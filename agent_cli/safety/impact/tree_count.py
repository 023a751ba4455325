"""Count what lies at and below some paths, without following links."""

# ruff: noqa: PTH120

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from agent_cli.safety.impact.clock import Clock
from agent_cli.safety.paths import Workspace

_MAX_KEPT = 100


@dataclass
class Tally:
    """What has been counted so far."""

    files: int = 0
    directories: int = 0
    bytes: int = 0
    not_in_git: int = 0
    outside: int = 0
    repositories: int = 0
    unreadable: int = 0
    at_least: bool = False
    kept: dict[str, list[str]] = field(default_factory=dict)
    """The first paths of each kind."""

    def keep(self, kind: str, path: str) -> None:
        """Remember a path as an example of a kind."""
        kept = self.kept.setdefault(kind, [])
        if len(kept) < _MAX_KEPT:
            kept.append(path)


@dataclass(frozen=True)
class CountRules:
    """How each file is judged."""

    workspace: Workspace
    is_in_git: Callable[[str], bool]


def count(paths: Iterable[str], look: CountRules, clock: Clock, *, is_deep: bool) -> Tally:
    """Count the paths, and with `is_deep` all below them, until the clock runs out."""
    tally = Tally()
    tops = _outermost(paths) if is_deep else list(paths)
    entries = _entries(tops, tally, is_deep=is_deep)
    for path, found in clock.within(entries):
        _add(tally, look, path, found)
    tally.at_least = next(entries, None) is not None
    return tally


def _outermost(paths: Iterable[str]) -> list[str]:
    """The paths without those that lie below another."""
    kept: dict[str, None] = {}
    covered: dict[str, bool] = {}
    # From the top down, so that what holds for a directory is settled before its entries.
    for path in sorted(set(paths), key=lambda each: each.count("/")):
        directory = os.path.dirname(path)
        if directory not in covered:
            covered[directory] = any(above in kept for above in _above(path))
        if not covered[directory]:
            kept[path] = None
    return list(kept)


def _above(path: str) -> Iterator[str]:
    while (parent := os.path.dirname(path)) != path:
        yield parent
        path = parent


def _entries(
    tops: list[str], tally: Tally, *, is_deep: bool
) -> Iterator[tuple[str, os.stat_result]]:
    pending = []
    for top in tops:
        try:
            found = os.lstat(top)
        except OSError:
            continue
        yield top, found
        if is_deep and stat.S_ISDIR(found.st_mode):
            pending.append(top)
        while pending:
            yield from _below(pending.pop(), pending, tally)


def _below(
    directory: str, pending: list[str], tally: Tally
) -> Iterator[tuple[str, os.stat_result]]:
    try:
        with os.scandir(directory) as entries:
            for each in entries:
                try:
                    found = each.stat(follow_symlinks=False)
                except OSError:
                    tally.unreadable += 1
                    continue
                yield each.path, found
                if stat.S_ISDIR(found.st_mode):
                    pending.append(each.path)
    except OSError:
        tally.unreadable += 1


def _add(tally: Tally, look: CountRules, path: str, found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        tally.directories += 1
        if path.endswith("/.git"):
            tally.repositories += 1
        return
    tally.files += 1
    tally.bytes += found.st_size
    if tally.files <= _MAX_KEPT:
        tally.keep("file", path)
    if not look.is_in_git(path):
        tally.not_in_git += 1
        tally.keep("not in git", path)
    # By text first: a comparison by components for each of many files takes too long.
    if not path.startswith(look.workspace.root + "/") and not look.workspace.contains(path):
        tally.outside += 1
        tally.keep("outside", path)
