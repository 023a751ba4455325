"""Our own files: how much space they take and who can read them."""

import os
import shutil
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from agent_cli.doctor._check import Check, CheckContext, Finding, ok
from agent_cli.lib.language import mark, tr
from agent_cli.lib.text import size

_MAX_BYTES = 2_000_000_000
_MIN_FREE_BYTES = 200_000_000
_TIMEOUT_S = 3.0
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def disk(patient: CheckContext) -> Finding:
    """What we keep, and what is left."""
    state = patient.places.state
    used, is_whole = _measure(state)
    there = next(path for path in (state, *state.parents) if path.exists())
    free = shutil.disk_usage(there).free
    values = {"used": size(used), "path": state, "free": size(free)}
    measured = (
        tr("{used} in {path}, {free} free", **values)
        if is_whole
        else tr("more than {used} in {path}, {free} free", **values)
    )
    if os.statvfs(there).f_flag & os.ST_RDONLY or not os.access(there, os.W_OK):
        return Finding(
            "problem", measured, tr("a directory that can be written"),
            cause=tr("{path} is read-only", path=there),
            remedy=tr("Make it writable, or sessions can't be saved."),
        )  # fmt: skip
    if free < _MIN_FREE_BYTES:
        return Finding(
            "problem", measured, tr("{size} free", size=size(_MIN_FREE_BYTES)),
            cause=tr("the disk is almost full"),
            remedy=tr("Free some space, or sessions can't be saved."),
        )  # fmt: skip
    if used > _MAX_BYTES:
        return Finding(
            "warning", measured, tr("less than {size}", size=size(_MAX_BYTES)),
            cause=tr("many sessions, or large tool results"),
            remedy=tr("Delete old sessions with agent sessions delete."),
        )  # fmt: skip
    return ok(measured)


def permissions(patient: CheckContext) -> Finding:
    """Whether only the user can read our files."""
    places = patient.places
    wrong = [path for root in (places.config, places.state) for path in _open_to_others(root)]
    if not wrong:
        return ok(tr("only you can read and change agent's files"))
    shown = ", ".join(str(path) for path in wrong[:5])
    if len(wrong) > 5:
        shown = tr("{paths} and {n} more", paths=shown, n=len(wrong) - 5)
    return Finding(
        "problem", shown, tr("files only you can read and change"),
        cause=tr("others can read your sessions or change your rules"),
        remedy=f"chmod -R go-rwx {places.config} {places.state}",
    )  # fmt: skip


def _open_to_others(root: Path) -> Iterator[Path]:
    """What others may change, and what they may read of what we keep."""
    deadline = time.monotonic() + _TIMEOUT_S
    for path in _below(root):
        if time.monotonic() > deadline:
            return
        found = path.lstat()
        if stat.S_ISLNK(found.st_mode):
            continue
        may_change = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        may_read = stat.S_ISREG(found.st_mode) and found.st_mode & _OTHERS and _is_private(path)
        if may_change or may_read or found.st_uid not in (os.getuid(), 0):
            yield path


def _is_private(path: Path) -> bool:
    """Whether no directory above keeps others out already, and it is not the settings file."""
    closed = any(not parent.lstat().st_mode & _OTHERS for parent in list(path.parents)[:3])
    return not closed and path.name != "config.toml"


def _measure(root: Path) -> tuple[int, bool]:
    """Bytes below a directory, and whether all of it was counted."""
    deadline = time.monotonic() + _TIMEOUT_S
    total = 0
    for path in _below(root):
        if time.monotonic() > deadline:
            return total, False
        total += path.lstat().st_size
    return total, True


def _below(root: Path) -> Iterator[Path]:
    for directory, _, names in os.walk(root):
        yield Path(directory)
        yield from (Path(directory, name) for name in names)


CHECKS = (
    Check("files", mark("disk"), disk, seconds=10),
    Check("files", mark("permissions"), permissions, seconds=10),
)
