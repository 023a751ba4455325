"""Records on disk: one small file each, whole or not there."""

import contextlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agent_cli.core.undo.checkpoint import PathChange, PathState, Record
from agent_cli.lib.files import private_directory

VERSION = 2


class RecordFiles:
    """The records of one session, oldest first."""

    def __init__(self, directory: Path) -> None:
        self._directory = private_directory(directory)
        self._records: dict[int, Record] = {}
        self._next = 1
        for path in sorted(self._directory.iterdir()):
            if path.suffix != ".json":
                path.unlink(missing_ok=True)  # left by a crash
                continue
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                record = from_json(json.loads(path.read_text(encoding="ascii")))
                self._records[record.number] = record
                self._next = record.number + 1

    def __iter__(self) -> Iterator[Record]:
        return iter(tuple(self._records.values()))

    def new_number(self) -> int:
        """The number of the next record."""
        self._next += 1
        return self._next - 1

    def put(self, record: Record) -> None:
        """Keep a record, or what it has become; raises OSError."""
        path = self._path(record.number)
        write_whole(path, json.dumps(to_json(record), separators=(",", ":")).encode("ascii"))
        self._records[record.number] = record

    def drop(self, number: int) -> None:
        """Keep it no longer."""
        self._records.pop(number, None)
        self._path(number).unlink(missing_ok=True)

    def _path(self, number: int) -> Path:
        return self._directory / f"{number:08d}.json"


def write_whole(path: Path, data: bytes) -> None:
    """Put a private file in place in one step. A crash of ours leaves the old one or the new.

    It is not flushed to the disk: that would cost more than all the rest of a checkpoint, and
    only a crash of the whole machine could tell.
    """
    temporary = path.with_name(f".{path.stem}.{secrets.token_hex(4)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        temporary.rename(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def to_json(record: Record) -> dict[str, Any]:
    """A record as JSON keeps it."""
    plain = {
        name: value
        for name, value in vars(record).items()
        if name != "changes" and (name == "targets" or value not in ((), "", False))
    }
    changes = [
        [each.path, pack_state(each.before), pack_state(each.after), each.doubt]
        for each in record.changes
    ]
    return {"version": VERSION, **plain, "changes": changes}


def from_json(data: Mapping[str, Any]) -> Record:
    """A record as it was; raises ValueError, KeyError or TypeError."""
    changes = tuple(
        PathChange(str(path), PathState(*before), PathState(*after), *doubt)
        for path, before, after, *doubt in data["changes"]
    )
    targets = data.get("targets")
    return Record(
        number=int(data["number"]),
        kind=data["kind"],
        turn=int(data.get("turn", 0)),
        call_id=str(data.get("call_id", "")),
        tool=str(data.get("tool", "")),
        title=str(data.get("title", "")),
        time=float(data["time"]),
        changes=changes,
        by=data.get("by", "tools"),
        of=tuple(map(int, data.get("of", ()))),
        notes=tuple(map(str, data.get("notes", ()))),
        is_open=bool(data.get("is_open", False)),
        ended=float(data.get("ended", 0)),
        targets=None if targets is None else tuple(map(str, targets)),
    )


def pack_state(state: PathState) -> list[Any]:
    """A state as JSON keeps it, without what is not known at its end."""
    packed = list(state)
    while packed[-1] in ("", 0):
        packed.pop()
    return packed
