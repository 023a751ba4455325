"""Numbered lines out of a file of any size, in little memory."""

import codecs
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from agent_cli.lib.encodings import Encoding, readable
from agent_cli.tools._files import check_cancelled

MAX_LINE_CHARS = 2_000
"""Characters of a line that are shown."""
_MAX_KEPT_BYTES = MAX_LINE_CHARS * 4
_BLOCK = 1_048_576

Blocks = Iterator[bytes]


@dataclass
class Page:
    """Some neighbouring lines of a file."""

    first: int
    lines: list[str] = field(default_factory=list)
    cut: int = 0
    """How many of them were too long to be shown whole."""
    total: int | None = None
    """How many lines the file has, if that was counted."""
    has_more: bool = False

    @property
    def last(self) -> int:
        """The number of the last line."""
        return self.first + len(self.lines) - 1

    @property
    def numbered(self) -> str:
        """The lines as the model reads them."""
        return "\n".join(f"{n:>6}\t{line}" for n, line in enumerate(self.lines, self.first))


def blocks_of(source: int | bytes, encoding: Encoding, cancelled: threading.Event) -> Blocks:
    """What is in an open file or in memory, in blocks in which a line break is one byte."""
    raw = _raw_blocks(source, len(encoding.bom), cancelled)
    return _narrow_blocks(raw, encoding) if encoding.is_wide else raw


def take_page(
    blocks: Blocks,
    encoding: Encoding,
    offset: int,
    limit: int,
    *,
    max_chars: int,
    count_all: bool,
    line_break: bytes = b"\n",
) -> Page:
    """The lines from `offset` on, at most `limit` of them and about `max_chars` characters."""
    codec = "utf-8" if encoding.is_wide else encoding.codec
    collector = _Collector(
        Page(offset), limit, max_chars, line_break, Encoding(codec, codec).decode
    )
    passed = 0
    ends_with_break = True
    for block in blocks:
        ends_with_break = block.endswith(line_break)
        if collector.is_full:
            collector.page.has_more = True
            if not count_all:
                return collector.page
            passed += block.count(line_break)
            continue
        position = 0
        if passed < offset - 1:
            breaks = block.count(line_break)
            if passed + breaks < offset - 1:
                passed += breaks
                continue
            position = _after_breaks(block, line_break, offset - 1 - passed)
            passed = offset - 1
        position, taken = collector.take(block, position)
        passed += taken
        if position < len(block):
            collector.page.has_more = True
            if not count_all:
                return collector.page
            passed += block.count(line_break, position)
    passed += collector.finish()
    page = collector.page
    # A last line without a break counts; if it was collected, it has been counted by now.
    unbroken = not ends_with_break and (page.has_more or not page.lines)
    page.total = passed + unbroken
    return page


class _Collector:
    """Gathers lines until there are enough of them."""

    def __init__(
        self,
        page: Page,
        limit: int,
        max_chars: int,
        line_break: bytes,
        decode: Callable[[bytes], str],
    ) -> None:
        self.page = page
        self.is_full = False
        self._limit = limit
        self._break = line_break
        self._decode = decode
        self._room = max_chars
        self._longest_line = min(MAX_LINE_CHARS, max_chars)
        self._held = b""
        self._length = 0

    def take(self, block: bytes, position: int) -> tuple[int, int]:
        """Take lines from the position on; where it stopped, and how many line breaks it passed."""
        taken = 0
        while not self.is_full and position < len(block):
            end = block.find(self._break, position)
            if end < 0:
                self._hold(block, position, len(block))
                return len(block), taken
            self._hold(block, position, end)
            if not self._complete():
                return position, taken
            position, taken = end + 1, taken + 1
        return position, taken

    def finish(self) -> int:
        """Take what is left after the last line break; the number of lines that was."""
        if self.is_full or not self._length:
            return 0
        if self._complete():
            return 1
        self.page.has_more = True
        return 0

    def _hold(self, block: bytes, start: int, end: int) -> None:
        self._length += end - start
        if len(self._held) < _MAX_KEPT_BYTES:
            self._held += block[start : min(end, start + _MAX_KEPT_BYTES)]

    def _complete(self) -> bool:
        """Add the line that is held; false if it does not fit any more."""
        held, length = self._held, self._length
        self._held, self._length = b"", 0
        line = readable(self._decode(held[:_MAX_KEPT_BYTES] if length > _MAX_KEPT_BYTES else held))
        line = line.removesuffix("\r")
        if is_cut := length > _MAX_KEPT_BYTES or len(line) > self._longest_line:
            line = f"{line[: self._longest_line]}… [cut: this line is {length:,} bytes long]"
        if self.page.lines and len(line) + 8 > self._room:
            self.is_full = True
            return False
        self._room -= len(line) + 8
        self.page.cut += is_cut
        self.page.lines.append(line)
        self.is_full = len(self.page.lines) >= self._limit
        return True


def _raw_blocks(source: int | bytes, position: int, cancelled: threading.Event) -> Blocks:
    while block := (
        os.pread(source, _BLOCK, position)
        if isinstance(source, int)
        else source[position : position + _BLOCK]
    ):
        check_cancelled(cancelled)
        yield block
        position += len(block)


def _narrow_blocks(raw: Blocks, encoding: Encoding) -> Blocks:
    decoder = codecs.getincrementaldecoder(encoding.codec)("replace")
    for block in raw:
        if text := decoder.decode(block):
            yield text.encode("utf-8", "replace")
    if rest := decoder.decode(b"", final=True):
        yield rest.encode("utf-8", "replace")


def _after_breaks(block: bytes, line_break: bytes, count: int) -> int:
    """The position after so many line breaks."""
    position = 0
    for _ in range(count):
        position = block.index(line_break, position) + 1
    return position
