"""Puts states back on the disk. What is in the way is moved aside, never destroyed."""

# ruff: noqa: PTH101, PTH120, PTH211

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from agent_cli.core.undo.checkpoint import FIFO, PathState, RestoreOutcome, RestoreStep
from agent_cli.lib.files import open_directory
from agent_cli.lib.language import tr
from agent_cli.storage.checkpoint.aside import Aside, copy_tree, holds
from agent_cli.storage.checkpoint.blobs import Blobs
from agent_cli.storage.checkpoint.states import bare, look, lstat

_IN_PLACE = ("directory", "absent")


@dataclass(frozen=True)
class Step:
    """What is to be done to one path."""

    path: str
    now: PathState
    """With the place to which it is moved, where it is to be moved."""
    then: PathState

    @property
    def moves(self) -> bool:
        """Whether what is there has to go: a new mode alone is set in place."""
        return self.now.kind not in _IN_PLACE and not self.then.is_same(self.now)


@dataclass
class Restorer:
    """Carries out an undo, path by path; one that fails does not stop the others."""

    blobs: Blobs
    aside: Aside
    locate: Callable[[PathState], str | None]
    """Where the very thing lies now, if it lies aside anywhere."""
    done: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    _moved: dict[tuple[str, int, int, int], str] = field(default_factory=dict)
    """What this undo has moved aside."""

    def run(self, steps: Sequence[Step]) -> RestoreOutcome:
        """First all that goes is moved, deepest first, so that it can come back elsewhere; then
        what comes is made; directories get their modes and times last."""
        by_depth = sorted(steps, key=lambda each: each.path.count("/"))
        for each in reversed(by_depth):
            if each.moves and not (each.then.kind == each.now.kind and each.then.content):
                self._try(each, self._move)
        for each in reversed(by_depth):
            if each.now.kind == "directory" and each.then.kind != "directory":
                self._try(each, _remove_if_empty)
        for each in by_depth:
            if each.then.exists:
                self._try(each, self._make)
        for each in reversed(by_depth):
            if each.then.kind == "directory" and each.path not in self.failed:
                with contextlib.suppress(OSError):
                    _dress_in_place(each)
        self._return_moved(by_depth)
        done = (each.path for each in by_depth if each.path not in self.failed)
        return RestoreOutcome(tuple(done), self.failed)

    def _return_moved(self, steps: Sequence[Step]) -> None:
        """What was moved away to come back elsewhere, and did not, returns to where it was."""
        missed = {each.then.identity: each.path for each in steps if each.path in self.failed}
        for each in steps:
            path = missed.get(each.now.identity)
            if path and not each.then.exists and self._moved.get(each.now.identity):
                with contextlib.suppress(OSError), _parent(each.path) as (directory, name):
                    os.rename(each.now.aside, name, dst_dir_fd=directory)
                    self.failed[each.path] = tr("it is all there is of {path}", path=path)

    def _try(self, each: Step, act: Callable[[Step], None]) -> None:
        if each.path in self.failed:
            return
        try:
            act(each)
        except OSError as error:
            self.failed[each.path] = error.strerror or str(error)

    def _move(self, each: Step) -> None:
        """Move aside what is there."""
        with _parent(each.path) as (directory, name):
            _require(each)
            os.rename(name, each.now.aside, src_dir_fd=directory)
        self._moved[each.now.identity] = each.now.aside

    def _make(self, each: Step) -> None:
        then = each.then
        if then.kind == "directory":
            _make_directory(each.path)
            return
        if each.now.exists and then.is_same(each.now):
            _require(each)
            _dress_in_place(each)
            return
        _make_directory(os.path.dirname(each.path))
        new = self._source(each)
        if os.path.lexists(each.path):
            if not each.moves or os.path.lexists(each.now.aside):
                raise FileExistsError(errno.EEXIST, tr("something else is there now"))
            self._move(each)
        dress(new, then)
        with _parent(each.path) as (directory, name):
            os.rename(new, name, dst_dir_fd=directory)

    def _source(self, each: Step) -> str:
        """Where that which comes lies ready, on the same disk."""
        then = each.then
        if self.aside.is_there(then):
            return then.aside
        new = f"{each.now.aside}.new"
        if then.kind == "link":
            os.symlink(then.content, new)
        elif then.kind == "other" and then.content == FIFO:
            os.mkfifo(new, then.mode)
        elif then.kind == "repository" and then.content:
            copy_tree(self.aside.tree(then.content), new)
        elif then.kind == "file" and then.content in self.blobs:
            self.blobs.copy_to(then.content, new, then.mode)
            _give_to_owner(new, each.path)
        else:
            moved = self._moved.get(then.identity)
            found = moved if moved and holds(moved, then) else self.locate(then)
            if found is None:
                raise OSError(None, then.why or tr("it is not kept any more"))
            return found
        return new


def open_up(each: RestoreStep) -> None:
    """Let directories be changed that a call has closed; they get their modes in the end."""
    if each.now.kind == "directory" and each.now.mode & 0o700 != 0o700:
        with contextlib.suppress(OSError), _parent(each.path) as (directory, name):
            if stat.S_ISDIR(os.lstat(name, dir_fd=directory).st_mode):
                os.chmod(name, each.now.mode | 0o700, dir_fd=directory)


def _remove_if_empty(each: Step) -> None:
    """A directory into which somebody has put something since stays."""
    try:
        with _parent(each.path) as (directory, name):
            os.rmdir(name, dir_fd=directory)
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) or each.then.exists:
            raise


def _give_to_owner(new: str, path: str) -> None:
    old = lstat(path)
    if old is not None and stat.S_ISREG(old.st_mode):
        with contextlib.suppress(OSError):
            os.chown(new, old.st_uid, old.st_gid)


def _require(each: Step) -> None:
    """Refuse where somebody has changed the file since the plan was made."""
    status = lstat(each.path)
    if status is None:
        raise FileNotFoundError(errno.ENOENT, tr("it is gone"))
    found = bare(each.path, status)
    if found.identity == each.now.identity:
        return
    if not look(each.path).is_same(each.now):
        raise OSError(None, tr("it was changed just now"))


@contextlib.contextmanager
def _parent(path: str) -> Iterator[tuple[int, str]]:
    """The directory that holds a path, opened without following any link, and the name in it."""
    directory, name = os.path.split(path)
    descriptor = _open(directory)
    try:
        yield descriptor, name
    finally:
        os.close(descriptor)


def _make_directory(path: str) -> None:
    os.close(_open(path, create=True))


def _open(directory: str, *, create: bool = False) -> int:
    try:
        return open_directory(directory, create=create)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(None, tr("a directory on the way to it is a link now")) from error
        raise


def _dress_in_place(each: Step) -> None:
    """Give what is at a path the mode and the time it is to have; a link there is left alone."""
    with _parent(each.path) as (directory, name):
        kind = os.lstat(name, dir_fd=directory).st_mode
        if stat.S_ISLNK(kind) != (each.then.kind == "link"):
            raise OSError(None, tr("it was changed just now"))
        if each.then.kind not in ("link", "repository"):
            os.chmod(name, each.then.mode, dir_fd=directory)
        if each.then.mtime_ns and each.then.kind != "repository":
            times = (each.then.mtime_ns, each.then.mtime_ns)
            with contextlib.suppress(OSError):
                os.utime(name, ns=times, dir_fd=directory, follow_symlinks=False)


def dress(path: str, state: PathState) -> None:
    """Give what is at a path the mode and the time it had."""
    if state.kind == "link":
        with contextlib.suppress(OSError):
            os.utime(path, ns=(state.mtime_ns, state.mtime_ns), follow_symlinks=False)
    elif state.kind != "repository":
        os.chmod(path, state.mode)
        _set_times(path, state)


def _set_times(path: str, state: PathState) -> None:
    if state.mtime_ns:
        with contextlib.suppress(OSError):
            os.utime(path, ns=(state.mtime_ns, state.mtime_ns))
