"""Reads the matches in ripgrep's output, which is cheaper to make and to read than its JSON."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from agent_cli.tools._places import decode

MAX_LINE_CHARS = 500
"""Bytes; of a longer line only the surroundings of the match are shown."""
ARGUMENTS = (
    "--no-heading",
    "--with-filename",
    "--line-number",
    "--column",
    "--byte-offset",
    "--null",
    f"--max-columns={MAX_LINE_CHARS}",
)

_MARK = "\x1e"
MARK_BEGINNINGS = f"--replace={_MARK}${{0}}"
"""Marks where matches begin: otherwise the lines of one could not be told from several."""

_RECORD = re.compile(rb"([^\0]*)\0(\d+)(?::(\d+):(\d+):|-(\d+)-)([^\n]*)\n")
_BINARY = re.compile(
    rb"([^\0]+?): (?:WARNING: stopped searching binary file after match"
    rb"|binary file matches) \(found [^\n]*\)\n"
)
_GAP = b"--\n"
_OMITTED = re.compile(rb"\[Omitted long [^\]]*\]")
_BEFORE, _AFTER = 120, 240


@dataclass(frozen=True, slots=True)
class MatchLine:
    """A line that matched, or one that stands near."""

    path: bytes
    number: int
    text: str
    column: int = 0
    """Where the first match begins, counted in bytes from 1; 0 for a line of context."""
    offset: int = 0
    """Where the line begins in the file."""
    omitted: bool = False
    """Too long: the text is not in it."""
    after_gap: bool = False
    goes_on: bool = False
    """It only continues a match that began in a line before."""

    @property
    def is_match(self) -> bool:
        """Whether the pattern is in it."""
        return self.column > 0


class MatchReader:
    """Takes output in pieces, cut anywhere, and gives back whole lines."""

    def __init__(self, *, marked: bool = False) -> None:
        self._marked = marked
        self._marks = 0
        self._next = (b"", 0)
        self._rest = b""
        self._gap = False
        self.binary: list[str] = []
        """Files that turned out not to be text after something was found in them."""

    def feed(self, chunk: bytes) -> Iterator[MatchLine]:
        """The lines that are complete now."""
        data = self._rest + chunk
        position = 0
        while True:
            if data.startswith(_GAP, position):
                self._gap = True
                position += len(_GAP)
            elif found := _RECORD.match(data, position):
                path = found[1]
                if b"\n" in path:
                    path = self._without_remarks(path)
                line = _line(path, found, after_gap=self._gap)
                yield self._unmark(line) if self._marked else line
                self._gap = False
                position = found.end()
            else:
                break
        self._rest = data[position:]

    def _unmark(self, line: MatchLine) -> MatchLine:
        if (line.path, line.number) != self._next:
            self._marks = 0
        before, marks = self._marks, line.text.count(_MARK)
        self._marks += marks + line.omitted
        self._next = line.path, line.number + 1
        return replace(
            line,
            text=line.text.replace(_MARK, ""),
            offset=line.offset - before,  # ripgrep counts the marks before it in adjoining lines
            goes_on=line.is_match and not line.omitted and not marks,
        )

    def finish(self) -> None:
        """What is left at the end can only be a remark."""
        self._without_remarks(self._rest)

    def _without_remarks(self, path: bytes) -> bytes:
        while found := _BINARY.match(path):
            self.binary.append(decode(found[1]))
            path = path[found.end() :].removeprefix(_GAP)
        return path


def _line(path: bytes, found: re.Match[bytes], *, after_gap: bool) -> MatchLine:
    raw = found[6]
    return MatchLine(
        path=path,
        number=int(found[2]),
        text=raw.rstrip(b"\r").decode("utf-8", "replace"),
        column=int(found[3] or 0),
        offset=int(found[4] or found[5]),
        omitted=_OMITTED.fullmatch(raw) is not None,
        after_gap=after_gap,
    )


def fetch_part(line: MatchLine) -> MatchLine:
    """A line that was too long with the part of it that matters, read from the file."""
    if not line.omitted:
        return line
    text = _around(line) if line.is_match else ""
    return replace(line, text=text or "[long line left out]")


def _around(line: MatchLine) -> str:
    try:
        descriptor = os.open(line.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        mark = os.pread(descriptor, 3, 0)
        if mark[:2] in (b"\xff\xfe", b"\xfe\xff"):  # ripgrep counted in another encoding
            return ""
        start = line.offset + (3 if mark == b"\xef\xbb\xbf" else 0)
        before = min(line.column - 1, _BEFORE)
        found = os.pread(descriptor, before + _AFTER, start + line.column - 1 - before)
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    shown, ended, _ = found.partition(b"\n")
    text = shown.decode("utf-8", "replace").strip("\ufffd").rstrip("\r")
    return f"{'' if before == line.column - 1 else '…'}{text}{'' if ended else '…'}"
