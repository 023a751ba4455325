"""Tells about the git repository."""

import asyncio
import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from pydantic import JsonValue

from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.core.tool import Description, StatusTexts, Tool, ToolKind, ToolParams, ToolResult
from agent_cli.core.tool_context import ShellInfo, ToolContext
from agent_cli.lib.language import mark, tr
from agent_cli.lib.text import plural
from agent_cli.safety.paths import PathProblem
from agent_cli.tools._git import GitProgram, valid

MAX_SHOWN = 40
"""Files of one sort that are named; the rest is counted."""
MAX_KEPT = 200
"""The same, in the metadata."""
TIMEOUT_S = 10.0

_SETTINGS = r"^(filter\..*|remote\..*\.url|branch\..*\.remote)$"
_STATUS = ("status", "--porcelain=v2", "--branch", "-z", "--ignore-submodules=all",
           "--find-renames")  # fmt: skip
_ALL_SORTS = ("modified", "added", "deleted", "renamed", "untracked")
_SORTS = {"A": "added", "D": "deleted", "C": "added"}


@dataclass
class RepositoryState:
    """What is known of a repository."""

    root: Path
    branch: str | None = None
    """None: the head is detached."""
    commit: str | None = None
    """None: there is none yet."""
    upstream: str | None = None
    ahead: int | None = None
    behind: int | None = None
    remote: str | None = None
    staged: int = 0
    files: dict[str, list[str]] = field(default_factory=lambda: {sort: [] for sort in _ALL_SORTS})
    notes: list[str] = field(default_factory=list)
    """What was not looked at, and why."""


@dataclass(frozen=True)
class GitSettings:
    """The parts of a repository's configuration that matter here."""

    filters: frozenset[str]
    remotes: dict[str, str]
    remote_of: dict[str, str]
    """Which remote a branch follows."""


async def run(_params: ToolParams, context: ToolContext) -> ToolResult:
    """Look at the repository around the shell's directory, or around the workspace."""
    directory = _directory(context)
    root = await asyncio.to_thread(_find_root, directory)
    if root is None:
        return ToolResult(
            llm_content=f"{directory} is not in a git repository.",
            summary=tr("Not a repository"),
            metadata={"is_repo": False},
        )
    state = await look(GitProgram(directory, context.session.environment), root)
    return ToolResult(
        llm_content=describe(state), summary=summarise(state), metadata=_metadata(state)
    )


async def look(git: GitProgram, root: Path) -> RepositoryState:
    """Ask git, without giving the repository a chance to run anything."""
    top, listed = await asyncio.gather(
        git.run("rev-parse", "--show-toplevel"), git.run("config", "-z", "--get-regexp", _SETTINGS)
    )
    if top.code != 0:
        raise ToolFailure(f"git cannot read the repository in {root}: {_reason(top.error)}")
    if await asyncio.to_thread(Path(top.text.removesuffix("\n")).resolve) != root:
        raise ToolFailure(
            f"The repository in {root} keeps its files elsewhere "
            f"({valid(top.text).strip()}); that location was not inspected."
        )
    if listed.code not in (0, 1) or not listed.whole:  # 1: nothing of the kind is set
        raise ToolFailure(f"git cannot read its configuration: {_reason(listed.error)}")
    settings = read_settings(listed.text)
    state = await _status(git.without_filters(sorted(settings.filters)), root)
    state.remote = _remote(state, settings)
    if settings.filters and state.files["modified"]:
        names = ", ".join(sorted(settings.filters))
        state.notes.append(
            f"content filters ({names}) were not run: "
            "a file they apply to may be listed as modified although it is not"
        )
    return state


async def _status(git: GitProgram, root: Path) -> RepositoryState:
    """The status; if the untracked files are too many to walk in time, without those."""
    missing: str | None = None
    try:
        output = await git.run(*_STATUS, "--untracked-files=normal", seconds=TIMEOUT_S)
    except ToolFailure as failure:
        if failure.type is not FailureType.TIMEOUT:
            raise
        missing = "untracked files were not listed: that took too long"
        output = await git.run(*_STATUS, "--untracked-files=no", seconds=TIMEOUT_S)
    if output.whole and output.code != 0:
        raise ToolFailure(f"git status failed in {root}: {_reason(output.error)}")
    state = read_status(valid(output.text), RepositoryState(root))
    if not output.whole:
        missing = "there are more changes than listed here"
    if missing:
        state.notes.append(missing)
    return state


def read_status(text: str, state: RepositoryState) -> RepositoryState:
    """Take in what `git status --porcelain=v2 --branch -z` says."""
    entries = iter(text.split("\0")[:-1])  # what follows the last NUL is empty, or cut off
    for entry in entries:
        kind, _, rest = entry.partition(" ")
        match kind:
            case "#":
                _read_header(rest, state)
            case "1" | "2":
                _read_change(kind, rest, entries, state)
            case "u":
                state.files.setdefault("conflicted", []).append(rest.split(" ", 9)[-1])
            case "?":
                state.files["untracked"].append(rest)
    return state


def _read_header(header: str, state: RepositoryState) -> None:
    name, _, value = header.partition(" ")
    match name:
        case "branch.oid":
            state.commit = value if value != "(initial)" else None
        case "branch.head":
            state.branch = value if value != "(detached)" else None
        case "branch.upstream":
            state.upstream = value
        case "branch.ab":
            ahead, behind = value.split()
            state.ahead, state.behind = int(ahead), -int(behind)


def _read_change(kind: str, rest: str, entries: Iterator[str], state: RepositoryState) -> None:
    staged, unstaged = rest[0], rest[1]
    state.staged += staged != "."
    letters = {staged, unstaged}
    if kind == "2":
        path, origin = rest.split(" ", 8)[-1], next(entries, "")
        if "R" in letters:
            state.files["renamed"].append(f"{origin} → {path}")
            return
    else:
        path = rest.split(" ", 7)[-1]
    sort = next((_SORTS[letter] for letter in "DAC" if letter in letters), "modified")
    state.files[sort].append(path)


def read_settings(listing: str) -> GitSettings:
    """Take in what `git config -z` lists: each key, a line end, its value."""
    filters: set[str] = set()
    remotes: dict[str, str] = {}
    remote_of: dict[str, str] = {}
    for entry in listing.split("\0"):
        key, _, value = entry.partition("\n")
        section, _, tail = key.partition(".")
        name, dot, _last = tail.rpartition(".")
        if not dot:
            continue
        if section == "filter":
            filters.add(name)
        elif section == "remote":
            remotes.setdefault(name, valid(value))
        elif section == "branch":
            remote_of[name] = value
    return GitSettings(frozenset(filters), remotes, remote_of)


def _remote(state: RepositoryState, settings: GitSettings) -> str | None:
    """The address of the branch's own remote, of origin, or of the only one."""
    followed = settings.remote_of.get(state.branch or "", "origin")
    address = settings.remotes.get(followed) or settings.remotes.get("origin")
    if address is None and len(settings.remotes) == 1:
        (address,) = settings.remotes.values()
    return without_credentials(address) if address else None


def without_credentials(address: str) -> str:
    """A remote's address without password or token; a mere user name stays with ssh."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return re.sub(r"//[^/]*@", "//", address)
    if not parts.scheme or not parts.netloc:
        return address
    userinfo, at, host = parts.netloc.rpartition("@")
    user = userinfo.partition(":")[0] if parts.scheme in ("ssh", "git+ssh", "ssh+git") else ""
    netloc = f"{user}{at}{host}" if user else host
    return urlunsplit((parts.scheme, netloc, parts.path, "", ""))


def describe(state: RepositoryState) -> str:
    """The state as compact text."""
    lines = [f"repository: {valid(str(state.root))}"]
    at = state.commit[:12] if state.commit else None
    if state.branch is None:
        lines.append(f"detached HEAD at {at}")
    else:
        lines.append(f"branch: {state.branch}, {f'commit {at}' if at else 'no commits yet'}")
    if state.upstream:
        distance = f"{state.ahead} ahead, {state.behind} behind"
        known = "which no longer exists" if state.ahead is None else distance
        lines.append(f"upstream: {state.upstream}, {known}")
    if state.remote:
        lines.append(f"remote: {state.remote}")
    lines += _file_lines(state)
    lines += [f"note: {note}" for note in state.notes]
    return "\n".join(lines)


def summarise(state: RepositoryState) -> str:
    """The state in one line: "main, 3 changed, 1 untracked"."""
    where = state.branch or tr("detached at {commit}", commit=(state.commit or "")[:7])
    untracked = len(state.files["untracked"])
    changed = sum(map(len, state.files.values())) - untracked
    counts = [tr("{n:,} changed", n=changed)] if changed else []
    counts += [tr("{n:,} untracked", n=untracked)] if untracked else []
    parts = [where, *(counts or [tr("clean")])]
    return ", ".join(parts)


def _file_lines(state: RepositoryState) -> list[str]:
    if not any(state.files.values()):
        return ["no changes found" if state.notes else "clean: no changes"]
    lines = []
    if state.staged:
        lines.append(f"staged: {plural(state.staged, 'file')}")
    for sort, paths in state.files.items():
        if paths:
            lines.append(f"{sort} ({len(paths):,}):")
            lines += [f"  {_one_line(path)}" for path in paths[:MAX_SHOWN]]
        if len(paths) > MAX_SHOWN:
            lines.append(f"  … {len(paths) - MAX_SHOWN:,} more")
    return lines


def _one_line(path: str) -> str:
    return path if path.isprintable() else repr(path)


def _metadata(state: RepositoryState) -> dict[str, JsonValue]:
    status: dict[str, JsonValue] = {
        sort: [*paths[:MAX_KEPT]] for sort, paths in state.files.items()
    }
    return {
        "is_repo": True,
        "root": valid(str(state.root)),
        "branch": state.branch,
        "detached": state.branch is None,
        "commit": state.commit,
        "upstream": state.upstream,
        "remote": state.remote,
        "ahead": state.ahead,
        "behind": state.behind,
        "staged": state.staged,
        "status": status,
        "counts": {sort: len(paths) for sort, paths in state.files.items()},
    }


def _directory(context: ToolContext) -> Path:
    """Where the shell stands, as long as that is a place the session may look at."""
    stands = context.state(ShellInfo).directory
    if stands is not None:
        with contextlib.suppress(PathProblem):
            found = context.workspace.resolve(stands)
            if found.is_inside and found.is_directory:
                return Path(found.real)
    return Path(context.workspace.root)


def _find_root(directory: Path) -> Path | None:
    """The nearest directory with a repository, found without asking git."""
    for place in (directory, *directory.parents):
        marker = place / ".git"
        try:
            if marker.is_file() or (marker / "HEAD").is_file() or (marker / "HEAD").is_symlink():
                return place.resolve()
        except OSError:
            continue
    return None


def _reason(error: str) -> str:
    first = error.partition("\n")[0].removeprefix("fatal: ")
    return first or "no reason given"


TOOL = Tool(
    name="GitInfo",
    kind=ToolKind.READONLY,
    params=ToolParams,
    run=run,
    description=Description.beside(__file__),
    display_name=mark("Git info"),
    aliases=("git_status", "git", "get_git_info", "get_git_status", "git_branch"),
    category="environment",
    tags=("git",),
    status=StatusTexts(mark("Running git…"), mark("Git info failed")),
    timeout=60.0,
)
