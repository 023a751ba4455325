"""What git knows of some files, asked so that a hostile repository can run nothing."""

# ruff: noqa: PTH118, PTH120

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from agent_cli.safety.git_probe import (
    LIST_CONFIGURATION,
    WITHOUT_HELPERS,
    bare_environment,
    helpers_in,
)
from agent_cli.safety.impact.clock import Clock, NotCounted
from agent_cli.safety.impact.run import RunOutput, run
from agent_cli.safety.paths import contains
from agent_cli.safety.reasons import because


@dataclass(frozen=True)
class ReadOnlyGit:
    """Runs git commands that only look."""

    environment: Mapping[str, str]
    clock: Clock

    def run(self, cwd: str, *words: str) -> RunOutput:
        """The whole output of a command that succeeded; raises NotCounted."""
        output = self._run(cwd, (*WITHOUT_HELPERS, *words))
        if output.code != 0:
            raise NotCounted(because("git_refuses"))
        return output

    def is_true(self, cwd: str, *words: str) -> bool:
        """Whether a command succeeds; raises NotCounted when it takes too long."""
        return self._run(cwd, (*WITHOUT_HELPERS, *words)).code == 0

    def require_plain(self, cwd: str) -> None:
        """Raise NotCounted where comparing contents could run a program."""
        listing = self._run(cwd, ("--no-pager", *LIST_CONFIGURATION))
        helpers = helpers_in(os.fsdecode(listing.data))
        if helpers:
            raise NotCounted(because("repository_sets", key=helpers[0]))
        if listing.code != 0:
            raise NotCounted(because("git_refuses"))

    def personal_excludes(self, cwd: str) -> tuple[str, ...]:
        """Options that make git ignore what the user's own configuration ignores."""
        environment = {**self._environment}
        del environment["GIT_CONFIG_GLOBAL"]
        words = ("config", "--global", "--path", "--get", "core.excludesFile")
        output = self._run(cwd, words, environment)
        path = os.fsdecode(output.data).rstrip("\n")
        return ("-c", f"core.excludesFile={path}") if path else ()

    @property
    def _environment(self) -> dict[str, str]:
        given = self.environment
        kept = {key: given[key] for key in ("PATH", "XDG_CONFIG_HOME") if given.get(key)}
        return {**bare_environment(given), **kept}

    def _run(
        self, cwd: str, words: Iterable[str], environment: Mapping[str, str] | None = None
    ) -> RunOutput:
        try:
            output = run(["git", *words], cwd, environment or self._environment, self.clock)
        except (OSError, ValueError) as error:
            raise NotCounted(because("cannot_run", name="git")) from error
        if not output.is_whole:
            raise NotCounted(because("no_time"))
        return output


def repository_of(directory: str) -> str | None:
    """The work tree that a real directory belongs to."""
    while not os.path.lexists(os.path.join(directory, ".git")):
        above = os.path.dirname(directory)
        if above == directory:
            return None
        directory = above
    return directory


@dataclass(frozen=True)
class Tracked:
    """Which files git has at and below some paths."""

    places: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The paths in each repository; one that is deleted itself is not there."""
    files: Mapping[str, frozenset[str]] | None = field(default_factory=dict)
    """The names in each repository; None: they could not be found out."""
    has_repository: bool = False

    def has(self, path: str) -> bool:
        """Whether git has the file."""
        for root, names in (self.files or {}).items():
            if path.startswith(root) and path[len(root) + 1 :] in names:
                return True
        return self.files is None


def tracked_at(paths: Iterable[str], git: ReadOnlyGit, *, deleted: bool) -> Tracked:
    """What git has at and below the paths. A repository that is deleted itself keeps nothing."""
    found = _by_repository(paths)
    kept = {root: own for root, own in found.items() if not (deleted and _is_lost(root, own))}
    try:
        files = {root: frozenset(_list_files(git, root, own)) for root, own in kept.items()}
    except NotCounted:
        return Tracked(kept, None, has_repository=bool(found))
    return Tracked(kept, files, has_repository=bool(found))


def changed_at(tracked: Tracked, git: ReadOnlyGit, *, is_deep: bool) -> list[str]:
    """The files there whose present content git does not have; raises NotCounted."""
    changed = []
    for root, paths in tracked.places.items():
        git.require_plain(root)
        own = frozenset(paths)
        for name in _list_files(git, root, paths, "--modified"):
            path = os.path.join(root, name)
            is_struck = path in own or (is_deep and any(contains(each, path) for each in own))
            if is_struck and os.path.lexists(path):
                changed.append(path)
    return changed


def _by_repository(paths: Iterable[str]) -> dict[str, tuple[str, ...]]:
    groups: dict[str, list[str]] = {}
    find = cache(repository_of)
    for path in paths:
        root = find(os.path.dirname(path))
        if root is not None:
            groups.setdefault(root, []).append(path)
    return {root: tuple(own) for root, own in groups.items()}


def _is_lost(root: str, paths: Iterable[str]) -> bool:
    # Compared as text: all are real paths, and there may be very many.
    own = os.path.join(root, ".git")
    return any(path in (own, root) or root.startswith(path.rstrip("/") + "/") for path in paths)


def _list_files(
    git: ReadOnlyGit, root: str, paths: Sequence[str], *options: str
) -> tuple[str, ...]:
    common = paths[0] if len(paths) == 1 else os.path.commonpath({*map(os.path.dirname, paths)})
    common = os.path.relpath(common, root)
    words = ["--literal-pathspecs", "ls-files", "-z", *options]
    if common != ".":
        words += ["--", common]
    return git.run(root, *words).names
