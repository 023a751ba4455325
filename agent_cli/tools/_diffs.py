"""Changes as unified diffs, in bounded time whatever the size."""

import difflib
from collections.abc import Iterator, Sequence
from typing import Literal

from agent_cli.core.display import DiffBlock
from agent_cli.lib.encodings import breaks_of, readable
from agent_cli.lib.language import tr
from agent_cli.lib.sequences import common_start

_CONTEXT = 3
_MAX_COMPARED_LINES = 4_000
"""Lines on both sides that are compared one by one; more are shown as removed and added."""
_MAX_LINES = 4_000
_MAX_CHARS = 400_000
_MAX_LINE_CHARS = 2_000
_NO_BREAK = "\\ No newline at end of file"

Opcode = tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]


def diff_block(path: str, before: str, after: str) -> DiffBlock:
    """The change of a file's text, for the user."""
    visible_breaks = breaks_of(before) != breaks_of(after) and bool(before)
    old, new = _lines(before, visible_breaks), _lines(after, visible_breaks)
    opcodes = list(_opcodes(old, new))
    removed = sum(end - start for tag, start, end, _, _ in opcodes if tag != "equal")
    added = sum(end - start for tag, _, _, start, end in opcodes if tag != "equal")
    lines = [f"--- {path if before else '/dev/null'}", f"+++ {path}"]
    size = 0
    for line in _hunks(opcodes, old, new):
        if len(lines) >= _MAX_LINES or size > _MAX_CHARS:
            rest = tr(
                "… {added:,} lines added and {removed:,} removed in total; the rest is not shown",
                added=added,
                removed=removed,
            )
            lines.append(rest)
            break
        lines.append(line if len(line) <= _MAX_LINE_CHARS else f"{line[:_MAX_LINE_CHARS]}…")
        size += len(lines[-1])
    text = "\n".join(lines) if added or removed else ""
    return DiffBlock(path=path, diff=text, added=added, removed=removed)


def _lines(text: str, visible_breaks: bool) -> list[str]:  # noqa: FBT001
    """The lines; the last one tells if no line break follows it."""
    text = readable(text)
    text = text.replace("\r\n", "␍\n" if visible_breaks else "\n")
    lines = text.split("\n")
    if lines[-1]:
        lines[-1] += f"\n{_NO_BREAK}"
    else:
        lines.pop()
    return lines


def _opcodes(old: Sequence[str], new: Sequence[str]) -> Iterator[Opcode]:
    """How the one becomes the other; equal beginnings and ends are never compared twice."""
    start = common_start(old, new)
    end = common_start(
        (old[-1 - i] for i in range(len(old) - start)),
        (new[-1 - i] for i in range(len(new) - start)),
    )
    old_middle, new_middle = old[start : len(old) - end], new[start : len(new) - end]
    if start:
        yield "equal", 0, start, 0, start
    if old_middle and new_middle and len(old_middle) + len(new_middle) <= _MAX_COMPARED_LINES:
        matcher = difflib.SequenceMatcher(None, old_middle, new_middle)
        for tag, a, b, c, d in matcher.get_opcodes():
            yield tag, a + start, b + start, c + start, d + start
    elif old_middle or new_middle:
        yield "replace", start, len(old) - end, start, len(new) - end
    if end:
        yield "equal", len(old) - end, len(old), len(new) - end, len(new)


def _hunks(opcodes: list[Opcode], old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    for group in _Groups(opcodes).get_grouped_opcodes(_CONTEXT):
        a, b, c, d = group[0][1], group[-1][2], group[0][3], group[-1][4]
        yield f"@@ -{_range(a, b)} +{_range(c, d)} @@"
        for tag, old_start, old_end, new_start, new_end in group:
            if tag == "equal":
                yield from _mark(" ", old, old_start, old_end)
                continue
            yield from _mark("-", old, old_start, old_end)
            yield from _mark("+", new, new_start, new_end)


def _mark(mark: str, lines: Sequence[str], start: int, end: int) -> Iterator[str]:
    for position in range(start, end):
        yield from f"{mark}{lines[position]}".split("\n")


class _Groups(difflib.SequenceMatcher[str]):
    """Groups opcodes that are known already."""

    def __init__(self, opcodes: list[Opcode]) -> None:
        super().__init__()
        self._known = opcodes

    def get_opcodes(self) -> list[Opcode]:
        return self._known


def _range(start: int, end: int) -> str:
    length = end - start
    first = start + 1 if length else start
    return f"{first}" if length == 1 else f"{first},{length}"
