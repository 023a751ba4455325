"""How many lines a change added and removed."""

import difflib

from agent_cli.core.undo.checkpoint import PathChange, PathState
from agent_cli.core.undo.undo_plan import Bytes
from agent_cli.lib.sequences import common_start

_MAX_BYTES = 2_000_000
_MAX_COMPARED_LINES = 2_000
"""Lines on both sides that are compared one by one; more count as removed and added."""


def count_lines(change: PathChange, store: Bytes) -> tuple[int, int] | None:
    """Lines added and removed; None for what is not text."""
    old, new = _lines(change.before, store), _lines(change.after, store)
    if old is None or new is None:
        return None
    start = common_start(old, new)
    end = common_start(old[start:][::-1], new[start:][::-1])
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    if not old or not new or len(old) + len(new) > _MAX_COMPARED_LINES:
        return len(new), len(old)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    same = sum(block.size for block in matcher.get_matching_blocks())
    return len(new) - same, len(old) - same


def _lines(state: PathState, store: Bytes) -> list[bytes] | None:
    if not state.exists:
        return []
    if state.kind != "file" or state.size > _MAX_BYTES:
        return None
    data = store.read(state)
    if data is None or b"\0" in data[:8192]:
        return None
    return data.splitlines()
