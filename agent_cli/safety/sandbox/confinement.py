"""What a confined command may write, read and reach."""

# Paths are handled as text and as the kernel sees them: pathlib would drop or merge parts.
# ruff: noqa: PTH118, PTH120

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from agent_cli.safety.paths import Workspace, contains
from agent_cli.safety.sensitive import (
    PROTECTED_HOME,
    PROTECTED_PAIRS,
    SECRET_HOME,
    SECRET_SYSTEM,
    is_protected,
)

# Names that make editors, git or agents run something as soon as they are there. What only acts
# after a commit (CI files, .gitmodules) may be new: a confined command cannot commit.
_NOT_CREATABLE = (
    ".git", ".agent", ".agents", ".claude", ".codex", ".cursor", ".gemini", ".opencode", ".vscode",
    ".idea", ".zed", ".devcontainer", ".husky", ".envrc", ".mcp.json", "AGENTS.md", "CLAUDE.md",
    "GEMINI.md",
)  # fmt: skip

# Secrets that lie in the home directory under a name of their own.
_HIDDEN_HOME = (
    ".netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".git-credentials",
    ".config/git/credentials", ".dockercfg", ".vault-token", ".local/share/agent",
)  # fmt: skip
# Sockets of daemons that start anything for anybody who can talk to them.
_DAEMONS_HOME = (".docker/run", ".docker/desktop", ".colima", ".lima", ".rd", ".orbstack")
_DAEMONS = ("/var/lib/lxd", "/var/lib/incus", "/var/snap/lxd/common/lxd")

_NOWHERE = "/nowhere"
_MAX_REPOSITORY_DEPTH = 3
_MAX_DIRECTORIES = 2000
_NOT_SEARCHED = frozenset({"node_modules", ".venv", "venv", "__pycache__", "target", "dist"})


class Profile(StrEnum):
    """How much a confined command may do."""

    READ_ONLY = "read-only"
    """Look at the workspace and at what programs need, change nothing, reach nothing."""
    WORKSPACE = "workspace"
    """Change the workspace, look at nearly everything."""


@dataclass(frozen=True)
class Confinement:
    """The limits of a command. All paths are absolute and real; they need not exist."""

    writable: tuple[str, ...]
    profile: Profile = Profile.WORKSPACE
    read_only_inside: tuple[str, ...] = ()
    """Places inside the writable ones that must neither change nor come to be."""
    hidden: tuple[str, ...] = ()
    """Places whose content cannot be read."""
    readable: tuple[str, ...] = ()
    """Places that can be read. Of a hidden and a readable place, the inner one counts."""
    links: tuple[tuple[str, str], ...] = ()
    """Links to readable places, and where they lead: they may be in a hidden directory."""
    temp: str = ""
    """A private directory that stands for /tmp where the tier can do that; it is writable."""
    network: bool = False

    def __post_init__(self) -> None:
        if self.temp and self.temp not in self.writable:
            object.__setattr__(self, "writable", (*self.writable, self.temp))

    def is_visible(self, path: str) -> bool:
        """Whether what is at a real path could be read, were it not for that path itself."""
        above = path
        while above != "/":
            above = os.path.dirname(above)
            if above in self.readable:
                return True
            if above in self.hidden:
                return False
        return True


def confinement_for(
    workspace: Workspace,
    *,
    temp: str,
    also_writable: Iterable[str] = (),
    network: bool = False,
) -> Confinement:
    """The limits of a command in this workspace, as its files are now.

    `temp` and `also_writable` are directories of our own, with nothing in them to protect.
    """
    roots = tuple(dict.fromkeys((workspace.root, *workspace.added)))
    home = os.path.realpath(workspace.home)
    own = tuple(map(os.path.realpath, workspace.own))
    temp = os.path.realpath(temp)
    protected = dict.fromkeys(path for root in roots for path in _protected_paths(root, home))
    protected |= dict.fromkeys(path for path in own if _inside_any(roots, path))
    hidden = (*known_secrets(home), *own)
    return Confinement(
        writable=tuple(dict.fromkeys((*roots, *map(os.path.realpath, also_writable), temp))),
        read_only_inside=tuple(protected),
        hidden=tuple(dict.fromkeys(path for path in hidden if path not in roots)),
        readable=tuple(map(os.path.realpath, workspace.readable)),
        temp=temp,
        network=network,
    )


def known_secrets(home: str) -> Iterator[str]:
    """Places of secrets, and of daemons that do anything for anybody who can talk to them."""
    for name in (*SECRET_HOME, *_HIDDEN_HOME, *_DAEMONS_HOME):
        yield os.path.join(home, name)
    yield from SECRET_SYSTEM
    yield from _DAEMONS


def _protected_paths(root: str, home: str) -> Iterator[str]:
    for name in _names(root):
        # Judged by itself: a workspace that lies inside a protected place is not frozen whole.
        if is_protected(f"/{name}", _NOWHERE):
            yield os.path.join(root, name)
    for name in (*_NOT_CREATABLE, *("/".join(pair) for pair in PROTECTED_PAIRS)):
        yield os.path.join(root, name)
    if contains(root, home):
        yield from (os.path.join(home, name) for name in PROTECTED_HOME)
    yield from _repositories(root)


def _repositories(root: str) -> Iterator[str]:
    """The `.git` of repositories further down: submodules, or a directory full of projects."""
    level = [root]
    seen = 0
    for _ in range(_MAX_REPOSITORY_DEPTH):
        below = []
        for directory in level:
            seen += 1
            if seen > _MAX_DIRECTORIES:
                return
            below += list(_directories(directory))
        yield from (
            git for directory in below if os.path.lexists(git := os.path.join(directory, ".git"))
        )
        level = below


def _directories(directory: str) -> Iterator[str]:
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                name = entry.name
                if name in _NOT_SEARCHED or name == ".git":
                    continue
                if entry.is_dir(follow_symlinks=False):
                    yield entry.path
    except OSError:
        return


def _names(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))  # noqa: PTH208 (names are all that is wanted)
    except OSError:
        return []


def _inside_any(roots: Iterable[str], path: str) -> bool:
    return any(contains(root, path) for root in roots)
