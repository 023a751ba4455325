"""Things that were moved out of the way, each whole and on the disk it was on."""

# ruff: noqa: PTH104, PTH108, PTH112, PTH114, PTH118, PTH120

import contextlib
import errno
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from agent_cli.core.undo.checkpoint import PathState
from agent_cli.lib.files import private_directory
from agent_cli.storage.checkpoint.quota import ASIDE, PLACES
from agent_cli.storage.checkpoint.states import bare, lstat, repository


class Aside:
    """A directory beside the other checkpoints, and one more for each other disk."""

    def __init__(self, own: Path) -> None:
        self._own = own
        self._directory = str(private_directory(own / "aside"))
        self._trees = str(private_directory(own / "trees"))
        self._bases: dict[tuple[int, str], str] = {}

    def base(self, path: str, roots: Iterable[str]) -> str:
        """A directory to which this path can be renamed; raises OSError."""
        parent = os.path.dirname(path)
        while (status := lstat(parent)) is None:
            parent = os.path.dirname(parent)
        above = [root for root in roots if path.startswith(root.rstrip("/") + "/")]
        near = max(above, key=len, default=parent)
        found = lstat(near)
        if found is None or found.st_dev != status.st_dev:
            near = parent  # another disk inside the workspace: where it begins
            while (up := lstat(os.path.dirname(near))) and up.st_dev == status.st_dev:
                near = os.path.dirname(near)
        key = (status.st_dev, near)
        if key not in self._bases:
            is_ours = _renames(self._directory, near)
            self._bases[key] = self._directory if is_ours else self._inside(near)
        return self._bases[key]

    def link(self, path: str, name: str) -> str | None:
        """A second name for a file that is about to be deleted; None where that cannot be."""
        target = os.path.join(self._directory, name)
        try:
            os.link(path, target, follow_symlinks=False)
        except OSError:
            return None
        return target

    def add_tree(self, path: str, name: str) -> str:
        """Keep a copy of a repository's own directory; raises OSError."""
        copy_tree(path, os.path.join(self._trees, name))
        return name

    def tree(self, name: str) -> str:
        """Where the copy lies."""
        return os.path.join(self._trees, name)

    def is_there(self, state: PathState) -> bool:
        """Whether what the state speaks of still lies aside, untouched."""
        return bool(state.aside) and holds(state.aside, state)

    def weight(self) -> int:
        """How many bytes lie here."""
        found = (lstat(f"{at}/{name}") for at, _, names in os.walk(self._own) for name in names
                 if at.startswith((self._directory, self._trees)))  # fmt: skip
        return sum(min(each.st_size, each.st_blocks * 512) for each in found if each)

    def drop_unneeded(self, needed: set[str]) -> None:
        """Let go of all but these."""
        for base in {self._directory, self._trees, *self._bases.values()}:
            with contextlib.suppress(OSError):
                for entry in os.scandir(base):
                    if entry.path not in needed and entry.name not in needed:
                        remove(entry.path)

    def _inside(self, root: str) -> str:
        place = private_directory(Path(root, ASIDE))
        ignoring = place / ".gitignore"
        if not ignoring.exists():
            ignoring.write_text("*\n")
        own = str(private_directory(place / self._own.name))
        with (self._own / PLACES).open("a") as file:
            file.write(f"{own}\n")
        return own


def holds(path: str, state: PathState) -> bool:
    """Whether the very thing the state speaks of is at this path, untouched."""
    status = lstat(path)
    if status is None:
        return False
    if state.kind == "repository":
        return repository(path, status).is_same(state)
    return bare(path, status).identity == state.identity


def remove(path: str) -> None:
    """Let go of a file or a directory that lies aside."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            os.unlink(path)


def copy_tree(source: str, target: str) -> None:
    """Copy a repository's own directory; what git never changes in place is linked. May raise
    OSError."""

    def copied(one: str, other: str) -> None:
        if f"{source}/objects/" in one:
            with contextlib.suppress(OSError):
                os.link(one, other)
                return
        shutil.copy2(one, other, follow_symlinks=False)

    try:
        shutil.copytree(source, target, symlinks=True, copy_function=copied)
    except shutil.Error as error:
        raise OSError(None, str(error.args[0][0][2] if error.args[0] else error)) from error


def _renames(directory: str, near: str) -> bool:
    """Whether something can be renamed from the one directory to the other."""
    one, other = lstat(directory), lstat(near)
    if one is None or other is None or one.st_dev != other.st_dev:
        return False
    try:  # the kernel tells that they are mounted apart before it looks for what is not there
        os.rename(os.path.join(directory, ".nothing"), os.path.join(near, f"{ASIDE}.nothing"))
    except OSError as error:
        return error.errno != errno.EXDEV
    return True
