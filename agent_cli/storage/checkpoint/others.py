"""Whose change it was: what other sessions and other calls did meanwhile is never this call's."""

import contextlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from agent_cli.core.undo.checkpoint import PathChange, Record
from agent_cli.lib.language import mark, tr
from agent_cli.storage.checkpoint.quota import is_in_use
from agent_cli.storage.checkpoint.records import from_json
from agent_cli.storage.checkpoint.states import lstat

NOT_NAMED = mark("it changed while the command ran, but the command does not name it")
TOO_EARLY = mark("it changed just before the command began")
BOTH_RAN = mark("another session was running a command at the same time")
_TICK = 0.02
"""Seconds by which the time of a file may lag behind the clock."""
_LAST = 8
"""Records of a session that is in use which are looked at in any case: one may still be open."""


def sessions_beside(directory: Path, own: str) -> Iterator[Path]:
    """Where the records of other sessions are."""
    with contextlib.suppress(FileNotFoundError):
        for path in directory.iterdir():
            if path.name != own and (path / "records").is_dir():
                yield path


def overlapping(directory: Path, own: str, start: float, end: float) -> list[Record]:
    """What other sessions recorded between two moments, or are doing still."""
    found = []
    for session in sessions_beside(directory, own):
        in_use = is_in_use(session)
        with contextlib.suppress(OSError):
            paths = sorted((session / "records").glob("*.json"))
            for path in paths:
                is_late = in_use and path in paths[-_LAST:]
                if not is_late and path.stat().st_mtime < start - 1:
                    continue
                record = read_record(path)
                if record is None or record.time > end:
                    continue
                if record.ended >= start or (record.is_open and in_use):
                    found.append(record)
    return found


def read_record(path: Path) -> Record | None:
    """One record of another session; None if it cannot be read."""
    try:
        return from_json(json.loads(path.read_text(encoding="ascii")))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def settle(
    changes: Iterable[PathChange],
    call: Record,
    others: Sequence[Record],
    siblings: Sequence[Record] = (),
) -> tuple[PathChange, ...]:
    """The changes that are a call's, those that may not be marked as doubtful.

    `siblings` are calls of the same session that ran meanwhile.
    """
    listed = list(changes)
    ours = None if call.targets is None else _named_paths(listed, call.targets)
    settled = []
    for change in listed:
        if ours is not None and change.path in ours:
            settled.append(change)
        elif any(_claims(each, change.path) for each in (*others, *siblings)):
            continue
        elif ours is not None and any(map(_is_vague, others)):
            continue  # another session's command ran, which may change anything: not ours
        elif ours is not None:
            settled.append(_find_doubted(change, tr(NOT_NAMED)))
        elif _was_before(change, call.time):
            settled.append(_find_doubted(change, tr(TOO_EARLY)))
        elif any(_is_vague(each) and not _was_apart(change, call.time, each) for each in others):
            settled.append(_find_doubted(change, tr(BOTH_RAN)))
        else:
            settled.append(change)
    return tuple(settled)


def _find_doubted(change: PathChange, why: str) -> PathChange:
    return PathChange(change.path, change.before, change.after, why)


def _named_paths(changes: Sequence[PathChange], targets: Sequence[str]) -> set[str]:
    """Of these, the paths that a command with these targets changes: what is below them, the
    directories made on the way to them, and other names of the same file."""
    exact = set(targets)
    prefixes = tuple(each.rstrip("/") + "/" for each in targets)
    above = {"/".join(parts[:n]) for parts in (t.split("/") for t in targets)
             for n in range(2, len(parts))}  # fmt: skip
    named = {
        each.path
        for each in changes
        if each.path in exact
        or each.path.startswith(prefixes)
        or (each.path in above and not each.before.exists)
    }
    files = {
        state.ino
        for each in changes
        if each.path in named
        for state in (each.before, each.after)
        if state.kind == "file"
    }
    return named | {
        each.path
        for each in changes
        if each.before.kind == each.after.kind == "file" and each.after.ino in files
    }


def _claims(record: Record, path: str) -> bool:
    """Whether the record says for certain that it changed, or is changing, this path."""
    if record.targets is not None:
        below = tuple(each.rstrip("/") + "/" for each in record.targets)
        return path in record.targets or path.startswith(below) or _has(record, path)
    is_sure = record.kind != "call" or record.by == "tools"
    return is_sure and _has(record, path)


def _has(record: Record, path: str) -> bool:
    return any(each.path == path and not each.doubt for each in record.changes)


def _was_before(change: PathChange, start: float) -> bool:
    """Whether a file that is still the same was changed between the look and the call."""
    if not change.before.ino or change.before.ino != change.after.ino:
        return False
    status = lstat(change.path)
    return status is not None and status.st_ctime < start - _TICK


def _was_apart(change: PathChange, start: float, other: Record) -> bool:
    """Whether it happened when we were running and the other was not.

    A time before we began says nothing: what is in a directory that is moved keeps its times.
    """
    status = lstat(change.path) if change.after.exists else None
    if status is None or status.st_ctime < start:
        return False
    return status.st_ctime < other.time - _TICK or (0 < other.ended < status.st_ctime)


def _is_vague(record: Record) -> bool:
    """Whether it is a command of which nobody knows what it changes."""
    return record.kind == "call" and record.targets is None and record.by == "shell"
