"""What git knows of some files, asked so that a hostile repository can run nothing."""

# ruff: noqa: PTH118, PTH120

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from agent_cli.safety.blast.clock import Clock, NotCounted
from agent_cli.safety.blast.run import Output, run
from agent_cli.safety.git_probe import (
    LIST_CONFIGURATION,
    WITHOUT_HELPERS,
    bare_environment,
    helpers_in,
)
from agent_cli.safety.paths import contains


@dataclass(frozen=True)
class Git:
    """Runs git commands that only look."""

    environment: Mapping[str, str]
    clock: Clock

    def run(self, cwd: str, *words: str) -> Output:
        """The whole output of a command that succeeded; raises NotCounted."""
        output = self._run(cwd, (*WITHOUT_HELPERS, *words))
        if output.code != 0:
            raise NotCounted("git refuses to look")
        return output

    def is_true(self, cwd: str, *words: str) -> bool:
        """Whether a command succeeds; raises NotCounted when it takes too long."""
        return self._run(cwd, (*WITHOUT_HELPERS, *words)).code == 0

    def require_plain(self, cwd: str) -> None:
        """Raise NotCounted where comparing contents could run a program."""
        listing = self._run(cwd, ("--no-pager", *LIST_CONFIGURATION))
        helpers = helpers_in(os.fsdecode(listing.data))
        if listing.code != 0 or helpers:
            raise NotCounted(helpers[0] if helpers else "git refuses to look")

    def personal_excludes(self, cwd: str) -> tuple[str, ...]:
        """Options that make git ignore what the person's own configuration ignores."""
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
    ) -> Output:
        try:
            output = run(["git", *words], cwd, environment or self._environment, self.clock)
        except (OSError, ValueError) as error:
            raise NotCounted("git cannot be run") from error
        if not output.is_whole:
            raise NotCounted("git took too long")
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
    """Which of some files git has."""

    has_repository: bool = False
    files: frozenset[str] | None = frozenset()
    """None: it could not be found out."""
    changed: frozenset[str] | None = frozenset()
    """Those whose present content git does not have; None: it could not be found out."""


def tracked_at(paths: Iterable[str], git: Git, *, deleted: bool) -> Tracked:
    """What git has at and below the paths. A repository that is deleted itself keeps nothing."""
    groups = _by_repository(paths)
    if deleted:
        groups.forget_deleted()
    try:
        files = _all_listed(git, groups.members)
    except NotCounted:
        return Tracked(groups.found, None, None)
    try:
        for root in groups.members:
            git.require_plain(root)
        return Tracked(groups.found, files, _all_listed(git, groups.members, "--modified"))
    except NotCounted:
        return Tracked(groups.found, files, None)


@dataclass
class _Groups:
    members: dict[str, list[str]] = field(default_factory=dict)
    found: bool = False

    def forget_deleted(self) -> None:
        for root, paths in list(self.members.items()):
            own = os.path.join(root, ".git")
            if any(path == own or contains(path, root) for path in paths):
                del self.members[root]


def _by_repository(paths: Iterable[str]) -> _Groups:
    groups = _Groups()
    known: dict[str, str | None] = {}
    for path in paths:
        start = path if os.path.lexists(os.path.join(path, ".git")) else os.path.dirname(path)
        if start not in known:
            known[start] = repository_of(start)
        root = known[start]
        if root is not None:
            groups.members.setdefault(root, []).append(path)
            groups.found = True
    return groups


def _all_listed(git: Git, members: Mapping[str, list[str]], *options: str) -> frozenset[str]:
    listed = (_listed(git, root, paths, *options) for root, paths in members.items())
    return frozenset[str]().union(*listed)


def _listed(git: Git, root: str, paths: list[str], *options: str) -> set[str]:
    common = os.path.relpath(os.path.commonpath(paths), root)
    words = ["--literal-pathspecs", "ls-files", "-z", *options]
    if common != ".":
        words += ["--", common]
    return {os.path.join(root, name) for name in git.run(root, *words).names}
