"""Writes several files, all of them or none."""

import contextlib
import os
import secrets
import stat
import threading
from collections.abc import Sequence
from pathlib import Path

from agent_cli.core.errors import ToolFailure
from agent_cli.lib.files import FileIdentity, open_directory, read_identity, write_atomic
from agent_cli.tools._files import check_cancelled, title
from agent_cli.tools._replacing import FileChange

Staged = tuple[FileChange, Path]
"""A change, and the new content that lies beside the file it will replace."""


def write_all(
    changes: Sequence[FileChange], cancelled: threading.Event
) -> list[tuple[FileChange, FileIdentity]]:
    """Write every change and return what is there now; on any error all is as before."""
    staged: list[Staged] = []
    try:
        for change in changes:
            check_cancelled(cancelled)
            staged.append(_stage(change))
        _exchange(staged)
    except OSError as error:
        raise ToolFailure(
            "Nothing was changed: cannot write "
            f"{title(str(error.filename or ''))} ({error.strerror})."
        ) from error
    finally:
        for _, beside in staged:
            with contextlib.suppress(OSError):
                beside.unlink()
    return [(change, read_identity(change.path)) for change in changes]


def _stage(change: FileChange) -> Staged:
    """Put the new content beside the file, with its mode and owner."""
    path = Path(change.path)
    before = path.lstat()
    beside = path.with_name(f".{path.name[:80]}.{secrets.token_hex(6)}.new")
    write_atomic(beside, change.new, mode=stat.S_IMODE(before.st_mode), follow_parents=False)
    with contextlib.suppress(PermissionError):
        os.chown(beside, before.st_uid, before.st_gid, follow_symlinks=False)
    return change, beside


def _exchange(staged: Sequence[Staged]) -> None:
    """Put the new files in place; if one cannot be, those before it get their content back."""
    for change, _ in staged:
        if read_identity(change.path) != change.identity:
            raise ToolFailure(
                f"Nothing was changed: {title(change.path)} changed on disk in the meantime. "
                "Search again, then retry."
            )
    done: list[FileChange] = []
    try:
        for change, beside in staged:
            _rename(change, beside)
            done.append(change)
    except BaseException:
        for change in done:
            with contextlib.suppress(OSError):
                write_atomic(change.path, change.old, follow_parents=False)
        raise


def _rename(change: FileChange, beside: Path) -> None:
    directory = open_directory(beside.parent)
    try:
        name = Path(change.path).name
        os.rename(beside.name, name, src_dir_fd=directory, dst_dir_fd=directory)
        os.fsync(directory)
    finally:
        os.close(directory)
