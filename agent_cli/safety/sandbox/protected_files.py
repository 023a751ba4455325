"""What makes git, editors or agents run something later: kept before a command, restored after it.

Landlock cannot forbid single places inside a directory that a command may change. So what it did
to them is found afterwards, and undone before anything can act on it.
"""

# Paths are handled as text and as the kernel sees them: pathlib would drop or merge parts.
# ruff: noqa: PTH102, PTH104, PTH105, PTH108, PTH112, PTH114, PTH115, PTH118, PTH119, PTH120
# ruff: noqa: PTH123, PTH211

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

MAX_FILE_BYTES = 1_000_000
_MAX_FILES = 5_000
_MAX_DIRECTORIES = 50_000
_NOT_SEARCHED = frozenset({"node_modules", ".venv", "venv", "__pycache__", "target", "dist"})
# What of a repository's data makes git run something; the rest is history, and may be written.
_GIT_FILES = ("config", "config.worktree", "commondir", "gitdir", "info/attributes")
_GIT_TREES = ("hooks",)
_GIT_NESTED = ("modules", "worktrees")


@dataclass(frozen=True)
class KeptFile:
    """What was at a path."""

    kind: int
    """The file's type, as in a mode."""
    mode: int = 0
    content: bytes = b""
    """A file's bytes, or where a link leads."""
    is_whole: bool = True
    """False: it is too large to be kept."""
    node: tuple[int, int] | None = None
    """Which directory it is, of one that could be moved away."""


Picture = Mapping[str, KeptFile]


@dataclass(frozen=True)
class PathDifference:
    """What a command did to a path; None: nothing is there."""

    path: str
    before: KeptFile | None
    after: KeptFile | None


def take_picture(places: Iterable[str], known: Picture | None, roots: Iterable[str]) -> Picture:
    """What is at protected places and below them.

    `known` is an earlier picture, if any. A repository that is new since then is no concern of
    ours, unless it is one of the workspace's own directories (`roots`): nothing runs there yet.
    """
    found: dict[str, KeptFile] = {}
    own = {os.path.join(root, ".git") for root in roots}
    for place in places:
        if not _NOT_SEARCHED.isdisjoint(place.split("/")):
            continue
        is_git = os.path.basename(place) == ".git"
        if known is not None and is_git and place not in known.keys() | own:
            continue
        for path in _paths_of(place):
            if len(found) >= _MAX_FILES:
                return found
            with contextlib.suppress(OSError):
                found[path] = _keep(path)
    return found


def find_differences(before: Picture, after: Picture) -> list[PathDifference]:
    """What differs, outer places first."""
    return [
        PathDifference(path, before.get(path), after.get(path))
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path)
    ]


def restore(differences: Iterable[PathDifference], search: Sequence[str]) -> list[str]:
    """Put everything back as it was before; returns what could not be.

    `search` are the directories in which something may be that was moved away.
    """
    listed = list(differences)
    failed = []
    for each in listed:
        if each.before is not None and each.before.node and not _bring_back(each, search):
            failed.append(each.path)
    # What was added goes first, from the inside out; then what was there, from the outside in.
    added = [each.path for each in listed if each.before is None]
    kept = [each for each in listed if each.before and not each.before.node]
    return [
        *failed,
        *(path for path in reversed(added) if not _put(path, None)),
        *(each.path for each in kept if not _put(each.path, each.before)),
    ]


def repeat(differences: Iterable[PathDifference]) -> list[str]:
    """Bring what was restored into force after all; returns what could not be."""
    return restore((PathDifference(each.path, each.after, each.before) for each in differences), ())


def _paths_of(place: str) -> Iterator[str]:
    if os.path.islink(place) or not os.path.isdir(place):
        yield place
    elif os.path.basename(place) == ".git":
        yield place
        yield from _git_paths(place)
    else:
        yield from _tree(place)


def _git_paths(git: str) -> Iterator[str]:
    yield from (path for name in _GIT_FILES if os.path.lexists(path := os.path.join(git, name)))
    for name in _GIT_TREES:
        if os.path.lexists(path := os.path.join(git, name)):
            yield from _tree(path)
    for name in _GIT_NESTED:
        for directory, below, files in os.walk(os.path.join(git, name)):
            below[:] = [each for each in below if each not in ("objects", "refs", "logs", "hooks")]
            if not {"config", "commondir", "HEAD"}.isdisjoint(files):
                yield from _git_paths(directory)


def _tree(place: str) -> Iterator[str]:
    yield place
    if os.path.islink(place) or not os.path.isdir(place):
        return
    for directory, below, files in os.walk(place):
        yield from (os.path.join(directory, name) for name in sorted((*below, *files)))


def _keep(path: str) -> KeptFile:
    status = os.lstat(path)
    kind, mode = stat.S_IFMT(status.st_mode), stat.S_IMODE(status.st_mode)
    if stat.S_ISLNK(status.st_mode):
        return KeptFile(kind, content=os.fsencode(os.readlink(path)))
    if stat.S_ISDIR(status.st_mode):
        is_git = os.path.basename(path) == ".git"
        return KeptFile(kind, node=(status.st_dev, status.st_ino) if is_git else None)
    if not stat.S_ISREG(status.st_mode):
        return KeptFile(kind)
    if status.st_size > MAX_FILE_BYTES:
        stamp = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        return KeptFile(kind, mode, repr(stamp).encode(), is_whole=False)
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        return KeptFile(kind, mode, file.read(MAX_FILE_BYTES))


def _bring_back(difference: PathDifference, search: Sequence[str]) -> bool:
    """Find a directory that was moved away, and move it back."""
    path, node = difference.path, difference.before.node if difference.before else None
    if _node(path) == node:
        return True
    for moved in itertools.islice(_directories(search), _MAX_DIRECTORIES):
        if _node(moved) == node:
            with contextlib.suppress(OSError):
                _put(path, None)
                os.rename(moved, path)
                return True
    return False


def _directories(roots: Sequence[str]) -> Iterator[str]:
    for root in roots:
        for directory, below, _ in os.walk(root):
            yield from (os.path.join(directory, name) for name in below)


def _node(path: str) -> tuple[int, int] | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _put(path: str, kept: KeptFile | None) -> bool:
    """Make a path what it was; the directory above it must not lead elsewhere."""
    above = os.path.dirname(path)
    if os.path.realpath(above) != above:
        return kept is None
    try:
        if kept is not None and kept.kind == stat.S_IFDIR:
            if os.path.islink(path) or not os.path.isdir(path):
                _remove(path)
                os.mkdir(path)
            return True
        if kept is None:
            _remove(path)
            return True
        if kept.kind == stat.S_IFLNK:
            _remove(path)
            os.symlink(os.fsdecode(kept.content), path)
            return True
        if kept.kind != stat.S_IFREG or not kept.is_whole:
            return False
        if os.path.isdir(path) and not os.path.islink(path):
            _remove(path)
        _write(path, kept)
    except OSError:
        return False
    return True


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def _write(path: str, kept: KeptFile) -> None:
    new = os.path.join(os.path.dirname(path), f".{secrets.token_hex(8)}")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(kept.content)
            os.fchmod(descriptor, kept.mode)
        os.replace(new, path)
    except BaseException:
        os.unlink(new)
        raise
