"""Puts states back on the disk."""

# ruff: noqa: PTH101, PTH103, PTH104, PTH106, PTH108, PTH118, PTH120, PTH211

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from agent_cli.core.undo.checkpoint import PathState, RestoreOutcome, RestoreStep
from agent_cli.lib.language import tr
from agent_cli.storage.checkpoint.path_states import is_direct, look, stat_only

Read = Callable[[PathState], bytes | None]


@dataclass
class Restorer:
    """Carries out the plan of an undo, path by path; one that fails does not stop the others."""

    read: Read
    done: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)

    def run(self, plan: Sequence[RestoreStep]) -> RestoreOutcome:
        """Files first, then what was made goes, deepest first; directories get their times last."""
        by_depth = sorted(plan, key=lambda each: each.path.count("/"))
        coming = [each for each in by_depth if each.then.exists]
        going = [each for each in reversed(by_depth) if not each.then.exists]
        # A directory where a file was, or the other way round: the old must go before.
        for each in [each for each in going if each.now.kind != "directory"]:
            self._try(each, self._remove)
        swapped = [e for e in coming if e.now.exists and e.now.kind != e.then.kind]
        for each in [each for each in going if each.now.kind == "directory"]:
            self._try(each, self._remove)
        for each in reversed(swapped):
            self._try(each, self._remove, counts=False)
        for each in coming:
            self._try(each, self._make)
        for each in reversed(coming):
            if each.then.kind == "directory" and each.path not in self.failed:
                _set_times(each.path, each.then)
        return RestoreOutcome(tuple(self.done), self.failed)

    def _try(
        self, each: RestoreStep, act: Callable[[RestoreStep], None], *, counts: bool = True
    ) -> None:
        if each.path in self.failed:
            return
        try:
            act(each)
        except OSError as error:
            self.failed[each.path] = error.strerror or str(error)
            return
        if counts:
            self.done.append(each.path)

    def _remove(self, each: RestoreStep) -> None:
        _require(each)
        if each.now.kind == "directory":
            with contextlib.suppress(FileNotFoundError):
                _remove_if_empty(each.path)
        elif each.now.exists:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(each.path)

    def _make(self, each: RestoreStep) -> None:
        then = each.then
        if each.now.exists and each.now.kind == then.kind:
            _require(each)
        elif os.path.lexists(each.path) and then.kind != "directory":
            raise FileExistsError(17, tr("something else is there now"))
        if then.kind == "directory":
            os.makedirs(each.path, exist_ok=True)
            os.chmod(each.path, then.mode)
            return
        os.makedirs(os.path.dirname(each.path), exist_ok=True)
        if not is_direct(each.path):
            raise OSError(None, tr("a directory on the way to it is a link now"))
        if then.kind == "link":
            _replace(each.path, lambda temporary: os.symlink(then.content, temporary))
            os.utime(each.path, ns=(then.mtime_ns, then.mtime_ns), follow_symlinks=False)
        elif then.is_same(each.now):
            os.chmod(each.path, then.mode)
            _set_times(each.path, then)
        else:
            self._write(each.path, then)

    def _write(self, path: str, then: PathState) -> None:
        data = self.read(then)
        if data is None:
            raise OSError(None, then.why or tr("its bytes are not kept any more"))
        owner = _owner(path)

        def write(temporary: str) -> None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(temporary, flags, 0o600)
            try:
                with open(descriptor, "wb", closefd=False) as file:
                    file.write(data)
                if owner is not None:
                    with contextlib.suppress(PermissionError):
                        os.fchown(descriptor, *owner)
                os.fchmod(descriptor, then.mode)
            finally:
                os.close(descriptor)

        _replace(path, write)
        _set_times(path, then)


def _remove_if_empty(path: str) -> None:
    """A directory in which the person has put something since stays."""
    try:
        os.rmdir(path)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise


def _owner(path: str) -> tuple[int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return (found.st_uid, found.st_gid) if stat.S_ISREG(found.st_mode) else None


def _require(each: RestoreStep) -> None:
    """Refuse where somebody has changed the file since the plan was made."""
    now = look(each.path) if each.now.content or each.now.kind != "file" else stat_only(each.path)
    if each.now.kind == "directory":
        same = now.kind in ("directory", "absent")
    else:
        same = now.is_same(each.now)
    if not same:
        raise OSError(None, tr("it was changed just now"))


def _replace(path: str, make: Callable[[str], None]) -> None:
    directory, name = os.path.split(path)
    temporary = os.path.join(directory, f".{name[:80]}.{secrets.token_hex(6)}.tmp")
    try:
        make(temporary)
        os.rename(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _set_times(path: str, state: PathState) -> None:
    if state.mtime_ns:
        with contextlib.suppress(OSError):
            os.utime(path, ns=(state.mtime_ns, state.mtime_ns))


def parents_made(paths: Iterable[str]) -> list[str]:
    """The directories that do not exist yet on the way to these paths, the outermost first."""
    missing: dict[str, None] = {}
    for path in paths:
        chain = []
        parent = os.path.dirname(path)
        while parent not in missing and not os.path.lexists(parent):
            chain.append(parent)
            parent = os.path.dirname(parent)
        missing.update(dict.fromkeys(reversed(chain)))
    return list(missing)
