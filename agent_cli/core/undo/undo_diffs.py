"""What calls changed and nobody has undone, as text: from the same pairs an undo works with."""

import difflib
from collections.abc import Iterable
from typing import NamedTuple

from agent_cli.core.undo.checkpoint import PathChange, PathState, Record
from agent_cli.core.undo.undo_plan import Bytes

MAX_BYTES = 500_000


def net_changes(records: Iterable[Record]) -> tuple[PathChange, ...]:
    """One change for each path: the first before and the last after, where they differ."""
    found: dict[str, PathChange] = {}
    for record in records:
        for each in record.changes:
            if not each.doubt:
                first = found.get(each.path)
                before = first.before if first else each.before
                found[each.path] = PathChange(each.path, before, each.after)
    return tuple(each for each in found.values() if not each.before.is_equal(each.after))


class FileDiff(NamedTuple):
    """What became of a file, as a unified diff; of what is not text, one line."""

    name: str
    text: str
    added: int = 0
    removed: int = 0


def diff(change: PathChange, root: str, store: Bytes) -> FileDiff | None:
    """The change of one path as a diff; None for a directory."""
    if "directory" in (change.before.kind, change.after.kind):
        return None
    name = change.path.removeprefix(root.rstrip("/") + "/")
    old, new = _text(change.before, store), _text(change.after, store)
    if old is None or new is None:
        return FileDiff(name, f"{change.verb}: {name}")
    source = name if change.before.exists else "/dev/null"
    target = name if change.after.exists else "/dev/null"
    lines = list(
        difflib.unified_diff(old.splitlines(), new.splitlines(), source, target, lineterm="")
    )
    signs = [line[:1] for line in lines[2:]]
    return FileDiff(name, "\n".join(lines), signs.count("+"), signs.count("-"))


def _text(state: PathState, store: Bytes) -> str | None:
    if not state.exists:
        return ""
    if state.kind != "file" or state.size > MAX_BYTES:
        return None
    data = store.read(state)
    if data is None or b"\0" in data:
        return None
    return data.decode("utf-8", "replace")
