"""What the analysis of a shell command is given and what it finds."""

import posixpath
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from agent_cli.safety.reasons import Reason


@lru_cache(maxsize=4096)
def lexical(path: str) -> str:
    """Resolve a path without touching the disk: for places that need not exist."""
    plain = posixpath.normpath(path)
    return plain[1:] if plain.startswith("//") else plain


def no_matches(pattern: str) -> tuple[str, ...] | None:
    """Expand a glob to nothing: for places that need not exist."""
    return ()


def no_links(path: str) -> bool:
    """Find no link: for places that need not exist."""
    return False


def nothing(path: str) -> str | None:
    """Find nothing: for places that need not exist."""
    return None


@dataclass(frozen=True)
class ShellContext:
    """What the analysis may know about where the command runs."""

    cwd: str
    roots: tuple[str, ...]
    """The workspace and added directories, resolved and absolute."""
    home: str
    git_is_plain: bool = True
    """The probe found no helper that git could run."""
    shell_is_plain: bool = True
    """The shell holds no function, alias or variable that gives names another meaning."""
    trusted: bool = True
    resolve: Callable[[str], str] = lexical
    """Absolute path → real path; pass `os.path.realpath` to see through links."""
    expand: Callable[[str], tuple[str, ...] | None] = no_matches
    """Absolute glob → what it matches now, so that links among it are seen; None = too many."""
    has_links: Callable[[str], bool] = no_links
    """Whether a link stands below a directory, or it is too large to tell."""
    secret_below: Callable[[str], str | None] = nothing
    """A secret file at or below a directory; the directory itself where that cannot be told."""
    read_list: Callable[[str], str | None] | None = None
    """The text of a file that names other files; None: nothing can be looked up."""
    probe_git: Callable[[str], bool] | None = None
    """Asked for every directory git would run in; None: `git_is_plain` speaks for all of them."""
    git_shows: Callable[[str, tuple[str, ...]], tuple[str, ...] | None] | None = None
    """Directory and arguments → the files whose content git would show, None if unknown."""


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """One command as bash would run it; a wrapped command appears once per level."""

    argv: tuple[str, ...]
    text: str
    level: int = 0
    """How many wrappers (env, timeout, bash -c …) stand around it."""
    unproven: tuple[Reason, ...] = ()
    """Why this command is not known to only read without a sandbox; empty when it is."""
    known: bool = True
    """Every word is known exactly; no allow rule may match a command with unknown words."""


@dataclass(frozen=True)
class Destruction:
    """Something whose damage can be counted before it happens."""

    verb: str
    paths: tuple[str, ...]
    argv: tuple[str, ...]
    cwd: str | None
    globs: tuple[tuple[str, str], ...] = ()
    """Words with wildcards in them, each with its pattern: quoted wildcards stand in brackets."""
    hidden: Reason | None = None
    """Why the words do not tell what is touched here; None when they do."""


@dataclass(frozen=True)
class ShellFacts:
    """Everything a decision needs to know about one command line."""

    commands: tuple[SimpleCommand, ...] = ()
    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    unproven: tuple[Reason, ...] = ()
    """Why it is not proven to only read; empty means proven."""
    needs_sandbox: tuple[Reason, ...] = ()
    """Why it is proven only where it runs in a sandbox that keeps it from reading secrets and
    what is outside, and from writing; empty: in any case."""
    trees: tuple[str, ...] = ()
    """Directories of which it may read all files."""
    sensitive: tuple[Reason, ...] = ()
    """Secret, protected or outside paths it touches."""
    unresolved: bool = False
    """Something remains that the words do not show; then no allow rule may match."""
    dangers: tuple[Reason, ...] = ()
    catastrophic: tuple[Reason, ...] = ()
    touches_network: bool = False
    destroys: tuple[Destruction, ...] = ()


def absolute(path: str, cwd: str) -> str:
    """The path as an absolute one, links and dots untouched."""
    return path if path.startswith("/") else posixpath.join(cwd, path)


def inside(path: str, roots: tuple[str, ...]) -> bool:
    """Containment by components, never by string prefix."""
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots)
