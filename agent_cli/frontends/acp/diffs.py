"""Unified diffs taken apart: for each hunk the text before and the text after."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_NO_BREAK = "\\ No newline at end of file"


@dataclass
class Hunk:
    """A part of a file that changed."""

    path: str
    line: int
    """Where it begins, in the file as it becomes."""
    is_new: bool
    """There was no such file."""
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)

    @property
    def old_text(self) -> str | None:
        """None: there was nothing."""
        return None if self.is_new else "".join(self.before)

    @property
    def new_text(self) -> str:
        return "".join(self.after)


def hunks(diff: str, path: str) -> Iterator[Hunk]:
    """The hunks of a diff, of one file or of several; `path` is the file where none is named.

    The head of a hunk says how many lines it has: a removed "-- x" looks like the name of a file.
    """
    lines = diff.split("\n")
    at, is_new = 0, False
    while at < len(lines):
        line = lines[at]
        if line.startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ "):
            is_new, path = line == "--- /dev/null", lines[at + 1][4:]
            at += 2
        elif head := _HUNK.match(line):
            hunk = Hunk(path, max(1, int(head[3])), is_new)
            at = _read(lines, at + 1, hunk, int(head[2] or 1), int(head[4] or 1))
            yield hunk
        else:
            at += 1


def _read(lines: list[str], at: int, hunk: Hunk, removed: int, added: int) -> int:
    """Fill a hunk with so many lines of each side; returns where it ends."""
    while at < len(lines):
        line = lines[at]
        if line == _NO_BREAK:
            _unbreak(hunk, lines[at - 1][:1])
        elif len(hunk.before) >= removed and len(hunk.after) >= added:
            break
        else:
            if line[:1] in (" ", "-"):
                hunk.before.append(f"{line[1:]}\n")
            if line[:1] in (" ", "+"):
                hunk.after.append(f"{line[1:]}\n")
            if line[:1] not in (" ", "-", "+"):
                break
        at += 1
    return at


def _unbreak(hunk: Hunk, mark: str) -> None:
    """The line before ends without a line break, on the sides that have it."""
    for sign, side in (("-", hunk.before), ("+", hunk.after)):
        if side and mark in (" ", sign):
            side[-1] = side[-1].removesuffix("\n")
