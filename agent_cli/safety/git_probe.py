"""Ask whether git would run a program that a repository's own configuration names."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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
SHOWN_TIMEOUT_S = 3.0
KEEP_INDEX = ("-c", "diff.autoRefreshIndex=false")
MAKES_LOG = names("log show whatchanged reflog") | {"stash list"}
SHOWS_NOTHING = (b"unknown revision or path", b"bad revision", b"No stash entries found")
RIVALS = names("--name-only --name-status --check -s --no-patch --quiet -q --exit-code")
WITHOUT_HELPERS = ("--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
"""Options for git that keep it from running what even a harmless command may run."""


def git_is_plain(directory: str) -> tuple[bool, tuple[str, ...]]:
    """Whether git may be trusted to only read here, and if not, why. Runs no helper.

    git itself is asked what it takes for a repository here, and nothing of the answer is kept:
    files that look unchanged may have been rewritten.
    """
    places = _find_repository(Path(directory))
    if places is None:
        return True, ()
    if isinstance(places, str):
        return False, (places,)
    found = (*_read_config(Path(directory)), *_elsewhere(places), *_hooks(places))
    reasons = tuple(dict.fromkeys(found or _submodules(Path(directory), places)))
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


@dataclass(frozen=True)
class _Repository:
    """Where the parts of a repository are, as git finds them."""

    git: Path
    common: Path
    """Shared by linked worktrees; mostly the same."""
    hook: Path
    index: Path
    top: Path | None
    """Of the working tree; None: git stands in a repository without one."""


def _find_repository(directory: Path) -> _Repository | str | None:
    """What git finds from a directory: None for nothing, a reason if that cannot be told."""
    asked = ("--git-path", f"hooks/{HOOKS[0]}", "--git-path", "index", "--is-inside-work-tree")
    done = _run(directory, "rev-parse", "--absolute-git-dir", "--git-common-dir", *asked)
    if done is None:
        return "git could not be asked about the repository"
    if done.returncode:
        nowhere = done.returncode == 128 and b"not a git repository (or any" in done.stderr
        return None if nowhere else "git cannot read the repository"
    lines = _decode(done.stdout).splitlines()
    if len(lines) != 5:
        return "the repository has an odd path"
    git, common, hook, index = (_resolve(directory / line) for line in lines[:4])
    top = _git(directory, "rev-parse", "--show-toplevel") if lines[4] == "true" else None
    return _Repository(git, common, hook, index, _resolve(Path(top[:-1])) if top else None)


def _resolve(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _elsewhere(places: _Repository) -> list[str]:
    """A repository that lies outside its working tree must know of that: else it is another's."""
    top = places.top or places.git
    if all(part == top or top in part.parents for part in (places.git, places.common)):
        return []
    try:
        back = (places.git / "gitdir").read_text("utf-8", "replace").strip()
    except OSError:
        back = ""
    # Written by git when it adds a worktree, in the repository that is shared.
    is_linked = places.git.parent == places.common / "worktrees"
    if is_linked and places.top and back == str(places.top / ".git"):
        return []
    return ["the repository lies outside of its folder"]


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


def _hooks(places: _Repository) -> list[str]:
    if not os.access(places.hook, os.X_OK):
        return []
    return [f"the repository has the hook {places.hook.name}"]


def _submodules(directory: Path, places: _Repository) -> list[str]:
    """git status looks into repositories inside this one, and uses their configuration."""
    links = _links(str(places.top or directory), _stamp(places.index))
    if links is None:
        return ["git could not list the repository's files"]
    if len(links) > MAX_SUBMODULES:
        return ["the repository has very many submodules"]
    found = []
    for link in links:
        folder = (places.top or directory) / link
        if os.path.lexists(folder / ".git"):
            plain, reasons = git_is_plain(str(folder))
            found += [] if plain else [f"in {link}: {reason}" for reason in reasons]
    return found


def _stamp(index: Path) -> tuple[int, ...]:
    """What must not have changed for an earlier list to hold; nobody can set the change time."""
    try:
        found = index.stat()
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


@lru_cache(maxsize=64)
def _links(directory: str, stamp: tuple[int, ...]) -> tuple[str, ...] | None:
    """The submodules that are checked in; the list is kept, since it is long to make."""
    listing = _git(Path(directory), "ls-files", "--stage", "-z")
    if listing is None:
        return None
    lines = listing.split("\0")
    return tuple(line.partition("\t")[2] for line in lines if line.startswith("160000 "))


def shown_paths(directory: str, argv: tuple[str, ...]) -> tuple[str, ...] | None:
    """The files whose content a git command would show, by all their names; None if unknown.

    `argv` is known to only read, in a repository known to be plain: it is run with its output
    reduced to names. An object that is named by its hash alone could be any file.
    """
    folder = Path(directory)
    name, rest = argv[0], argv[1:]
    if name == "stash":
        name, rest = f"stash {rest[0]}", rest[1:]
    if _has_blobs(folder, [word for word in rest if not word.startswith("-")]):
        return None
    if name == "cat-file":
        return ()
    reduced = ["-l", "-z"] if name == "grep" else ["--name-status", "-z", "--no-color"]
    if name in MAKES_LOG:
        reduced.append("--format=")
    kept = _without_rivals(rest)
    done = _run(folder, *KEEP_INDEX, *name.split(), *reduced, *kept, seconds=SHOWN_TIMEOUT_S)
    if done is not None and any(why in done.stderr for why in SHOWS_NOTHING):
        return ()
    if done is None or (done.returncode and (name, done.returncode) != ("grep", 1)):
        return None
    top = _git(folder, "rev-parse", "--show-toplevel")
    bases = dict.fromkeys((directory, top[:-1] if top else directory))
    fields = dict.fromkeys(each.strip("\n") for each in _decode(done.stdout).split("\0"))
    return tuple(f"{base}/{path}" for field in fields for path in _paths(field) for base in bases)


def _paths(field: str) -> Iterator[str]:
    """What a name in a listing may stand for: before a colon there may be a revision."""
    while field:
        yield field
        field = field.partition(":")[2]


def _without_rivals(words: tuple[str, ...]) -> list[str]:
    """The arguments without options that stand against a list of names."""
    end = words.index("--") if "--" in words else len(words)
    return [word for at, word in enumerate(words) if at >= end or word not in RIVALS]


def _has_blobs(folder: Path, words: list[str]) -> bool:
    """Whether one of the words names the content of a file by its hash, or a tag of it."""
    lines = "".join(f"{word}^{{}}\n" for word in words if "\n" not in word and ":" not in word)
    done = _run(folder, "cat-file", "--batch-check=%(objecttype)", given=lines.encode())
    return done is None or b"blob" in done.stdout.split()


def _git(folder: Path, *arguments: str, seconds: float = 10) -> str | None:
    done = _run(folder, *arguments, seconds=seconds)
    return _decode(done.stdout) if done is not None and done.returncode == 0 else None


def _decode(output: bytes) -> str:
    return output.decode("utf-8", "surrogateescape")


def _run(
    folder: Path, *arguments: str, seconds: float = 10, given: bytes = b""
) -> subprocess.CompletedProcess[bytes] | None:
    """Run git so that it can neither run a helper nor ask anything."""
    # A hook of a repository is looked for where its own settings say.
    options = ("--no-pager",) if arguments[0] in {"config", "rev-parse"} else WITHOUT_HELPERS
    try:
        return subprocess.run(
            ["git", *options, *arguments],
            cwd=folder,
            env=bare_environment(os.environ),
            input=given,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
