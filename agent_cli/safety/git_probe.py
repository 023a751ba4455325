"""Ask whether git would run a program that a repository's own configuration names."""

import os
import subprocess
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from agent_cli.safety.name_sets import names

# Keys whose value is a program, or that make git read more configuration or talk to a network while
# it only shows something. Compared in lower case against keys that the repository itself sets.
HELPERS = names(
    "alias.* browser.* core.alternaterefscommand core.askpass core.attributesfile core.editor "
    "core.fsmonitor core.gitproxy core.hookspath core.pager core.sshcommand core.worktree "
    "credential.* diff.external diff.*.command diff.*.textconv diff.submodule "
    "extensions.partialclone filter.* format.pretty gpg.* include.* includeif.* "
    "interactive.difffilter log.showsignature merge.*.driver man.* pager.* pretty.* protocol.* "
    "remote.*.promisor remote.*.uploadpack remote.*.vcs sequence.editor status.submodulesummary "
    "submodule.recurse uploadpack.* user.signingkey web.*"
)
# `true` and `false` are no programs for these.
HARMLESS_VALUES = {"core.fsmonitor": {"false", "0", "no", "off", ""}}
# The only hook that a command which reads can trigger (when it refreshes the index).
HOOKS = ("post-index-change",)
OWN_SCOPES = frozenset({"local", "worktree", "command", "unknown"})
MAX_SUBMODULES = 50
LIST_CONFIGURATION = ("config", "--list", "--show-scope", "--includes", "-z")
WITHOUT_HELPERS = ("--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
"""Options for git that keep it from running what even a harmless command may run."""


def git_is_plain(workspace: str) -> tuple[bool, tuple[str, ...]]:
    """Whether git may be trusted to only read here, and if not, why. Runs no helper."""
    root = _repository(Path(workspace))
    if root is None:
        return True, ()
    reasons = _probe(str(root), _stamp(root))
    return not reasons, reasons


def bare_environment(base: Mapping[str, str]) -> dict[str, str]:
    """The environment in which git reads no configuration but the repository's own."""
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": base.get("HOME", "/"),
        "LC_ALL": "C.UTF-8",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_PAGER": "cat",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }


def _repository(start: Path) -> Path | None:
    for folder in (start, *start.parents):
        if (folder / ".git").exists():
            return folder
        # A folder with these three is taken for a bare repository, wherever it is.
        has_parts = (folder / "objects").is_dir() and (folder / "refs").is_dir()
        if has_parts and (folder / "HEAD").is_file():
            return folder
    return None


def _stamp(root: Path) -> tuple[tuple[str, int, int], ...]:
    """What must not have changed for an earlier answer to hold."""
    git = _git_directory(root)
    if git is None:
        return ()
    parts = ("config", "config.worktree", "commondir", "hooks", "index", "modules")
    watched = [root / ".git", root / ".gitmodules", *(git / name for name in parts)]
    watched += (git / "hooks" / hook for hook in HOOKS)
    stamps = []
    for path in watched:
        try:
            status = path.stat()
        except OSError:
            continue
        stamps.append((str(path), status.st_mtime_ns, status.st_size))
    return tuple(stamps)


def _git_directory(root: Path) -> Path | None:
    """The .git directory, or where a .git file points (a linked worktree or a submodule)."""
    git = root / ".git"
    if git.is_dir():
        return git
    if not git.is_file():
        return root if (root / "HEAD").is_file() else None
    try:
        text = git.read_text("utf-8", "replace")
    except OSError:
        return None
    target = text.removeprefix("gitdir:").strip()
    return (root / target).resolve()


@lru_cache(maxsize=64)
def _probe(root: str, stamp: tuple[tuple[str, int, int], ...]) -> tuple[str, ...]:
    folder = Path(root)
    git = _git_directory(folder)
    if git is None:
        return ("the repository cannot be read",)
    return tuple(dict.fromkeys((*_read_config(folder), *_hooks(git), *_submodules(folder))))


def _read_config(folder: Path) -> list[str]:
    listing = _git(folder, *LIST_CONFIGURATION)
    if listing is None:
        return ["git could not list the repository's configuration"]
    return [f"the repository sets {key}" for key in helpers_in(listing)]


def helpers_in(listing: str) -> list[str]:
    """The keys in a listing of the configuration (LIST_CONFIGURATION) that name a helper."""
    fields = listing.split("\0")
    found = []
    for scope, entry in zip(fields[::2], fields[1::2], strict=False):
        key, _, value = entry.partition("\n")
        section, _, name = key.rpartition(".")
        folded = f"{section}.{name}".lower()
        if scope not in OWN_SCOPES or value.lower() in HARMLESS_VALUES.get(folded, ()):
            continue
        if any(fnmatchcase(folded, pattern) for pattern in HELPERS):
            found.append(key)
    return found


def _hooks(git: Path) -> list[str]:
    return [
        f"the repository has the hook {hook}"
        for hook in HOOKS
        if os.access(git / "hooks" / hook, os.X_OK)
    ]


def _submodules(root: Path) -> list[str]:
    """git status looks into repositories inside this one, and uses their configuration."""
    listing = _git(root, "ls-files", "--stage", "-z")
    if listing is None:
        return ["git could not list the repository's files"]
    links = [line.partition("\t")[2] for line in listing.split("\0") if line.startswith("160000 ")]
    if len(links) > MAX_SUBMODULES:
        return ["the repository has very many submodules"]
    found = []
    for link in links:
        folder = root / link
        if (folder / ".git").exists():
            plain, reasons = git_is_plain(str(folder))
            found += [] if plain else [f"in {link}: {reason}" for reason in reasons]
    return found


def _git(folder: Path, *arguments: str) -> str | None:
    """Run git so that it can neither run a helper nor ask anything."""
    options = ("--no-pager",) if arguments[0] == "config" else WITHOUT_HELPERS
    try:
        done = subprocess.run(
            ["git", *options, *arguments],
            cwd=folder,
            env=bare_environment(os.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "surrogateescape") if done.returncode == 0 else None
