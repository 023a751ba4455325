"""What a search has found so far: shown as it comes in, then reported as a whole."""

import time
from collections.abc import Callable, Iterable
from itertools import groupby, islice

from agent_cli.core.display import Display, TableBlock, TextBlock
from agent_cli.core.tool_context import ToolContext
from agent_cli.lib.language import tr, trn
from agent_cli.lib.text import plural
from agent_cli.tools._matches import MatchLine, MatchReader, fetch_part
from agent_cli.tools._places import PathNames, decode, newest_first
from agent_cli.tools._secrets import Secrets

_MAX_COUNTED = 5_000
"""Results counted beyond the limit before a search is stopped."""
_MAX_SORTED = 10_000
"""Files kept, so that the newest of them can be shown."""
_RAISE = "narrow the search, or raise head_limit"
_PROGRESS_EVERY_S = 0.1
"""Seconds between two pieces of progress."""


class SearchProgress:
    """Shows the first line at once, the others in pieces."""

    def __init__(self, show: Callable[[str | Display], None]) -> None:
        self._show = show
        self._waiting: list[str] = []
        self._last = 0.0

    def add(self, line: str) -> None:
        """One more line."""
        self._waiting.append(line)
        if time.monotonic() - self._last >= _PROGRESS_EVERY_S:
            self.flush()

    def flush(self) -> None:
        """Show what is waiting."""
        if self._waiting:
            self._show("\n".join(self._waiting) + "\n")
            self._waiting.clear()
            self._last = time.monotonic()


class _Findings:
    """Takes ripgrep's output and keeps what will be reported, which is never more than a limit."""

    def __init__(self, limit: int, secrets: Secrets, context: ToolContext) -> None:
        self.limit = limit
        self.matches = 0
        self.files = 0
        self.whole = False
        self.shown = 0
        """Matches or files in the report."""
        self.names = PathNames(context)
        self.secrets = secrets
        self.progress = SearchProgress(context.progress)

    def finish(self, *, whole: bool) -> None:
        """No more comes; `whole` if the search ended by itself."""
        self.whole = whole
        self.progress.flush()

    @property
    def summary(self) -> str:
        """One line: "12 matches in 5 files"."""
        if not self.matches:
            return tr("No matches")
        matches = trn("{n:,} match", "{n:,} matches", self.matches)
        files = trn("{n:,} file", "{n:,} files", self.files)
        return self._at_least(tr("{matches} in {files}", matches=matches, files=files))

    @property
    def total(self) -> str:
        """The same for the model."""
        found = f"{plural(self.matches, 'match', 'matches')} in {plural(self.files, 'file')}"
        return found if self.whole else f"At least {found}"

    def _at_least(self, figures: str) -> str:
        return figures if self.whole else tr("At least {figures}", figures=figures)

    def more(self, found: int, what: str) -> str:
        """ "[35 more matches …]", or nothing."""
        if found <= self.shown:
            return ""
        at_least = "" if self.whole else "at least "
        hint = "narrow the search" if self.shown < self.limit else _RAISE
        return f"[{at_least}{found - self.shown:,} more {what}: {hint}.]"


class FoundLines(_Findings):
    """Matching lines with their context."""

    def __init__(self, limit: int, secrets: Secrets, context: ToolContext, *, marked: bool) -> None:
        super().__init__(limit, secrets, context)
        self._reader = MatchReader(marked=marked)
        self._lines: list[MatchLine] = []
        self._path = b""
        self._hidden = False

    def feed(self, chunk: bytes) -> None:
        """Take a piece of ripgrep's output."""
        for line in self._reader.feed(chunk):
            if line.path != self._path:
                self._path = line.path
                self._hidden = self.secrets.hides(decode(line.path))
                self.files += not self._hidden
            if not self._hidden:
                self._take(line)

    def _take(self, line: MatchLine) -> None:
        if line.is_match and not line.goes_on:
            self.matches += 1
        if self.matches > self.limit:
            return
        if line.is_match or not self._belongs_to_next(line):
            self._lines.append(line)
        if line.is_match:
            self.progress.add(self._single(line))

    def _belongs_to_next(self, line: MatchLine) -> bool:
        """Whether a line of context, after the limit, stands before a match that isn't shown."""
        if self.matches < self.limit:
            return False
        return line.after_gap or not self._lines or line.path != self._lines[-1].path

    def finish(self, *, whole: bool) -> None:
        self._reader.finish()
        super().finish(whole=whole)

    @property
    def full(self) -> bool:
        """Whether everything that will be shown is there."""
        return self.matches > self.limit

    @property
    def overfull(self) -> bool:
        """Whether there is no use in counting on."""
        return self.matches > self.limit + _MAX_COUNTED

    @property
    def notes(self) -> list[str]:
        """What the model should know about the limits of the answer."""
        binary = [path for path in self._reader.binary if not self.secrets.hides(path)]
        return [
            self.more(self.matches, "matches"),
            *(f"{self.names.format(path)} is a binary file with matches." for path in binary),
        ]

    def report(self, max_chars: int) -> tuple[str, Display | None]:
        """The text for the model and the block for the user; what does not fit is counted."""
        if not self._lines:
            return "No matches.", None
        # Files are searched side by side: in the order they were found no answer is like another.
        self._lines.sort(key=lambda line: (line.path, line.number))
        lines = self._fitting(max_chars)
        self.shown = sum(line.is_match and not line.goes_on for line in lines)
        by_path = groupby(lines, key=lambda each: each.path)
        text = _join([self._group(path, list(some)) for path, some in by_path])
        return text, TextBlock(text=text)

    def _fitting(self, max_chars: int) -> list[MatchLine]:
        """The lines as they are shown, as many as fit."""
        kept: list[MatchLine] = []
        for line in map(fetch_part, self._lines):
            max_chars -= len(line.text) + len(f"{line.number}: \n")
            if not kept or kept[-1].path != line.path:
                max_chars -= len(line.path) + 2
            if max_chars < 0 and kept:
                break
            kept.append(line)
        return kept

    def _group(self, path: bytes, lines: list[MatchLine]) -> str:
        if len(lines) == 1:
            return self._single(lines[0])
        parts = [self.names.format(decode(path))]
        for number, line in enumerate(lines):
            if line.after_gap and number:
                parts.append("--")
            parts.append(f"{line.number}{':' if line.is_match else '-'} {line.text}")
        return "\n".join(parts)

    def _single(self, line: MatchLine) -> str:
        return f"{self.names.format(decode(line.path))}:{line.number}: {line.text}"


def _join(groups: list[str]) -> str:
    """Single lines follow each other; a group stands between blank lines."""
    parts: list[str] = []
    for number, group in enumerate(groups):
        if number:
            alone = "\n" not in group and "\n" not in groups[number - 1]
            parts.append("\n" if alone else "\n\n")
        parts.append(group)
    return "".join(parts)


class FoundFiles(_Findings):
    """Files with matches, or how many lines match in each."""

    def __init__(self, limit: int, secrets: Secrets, context: ToolContext, mode: str) -> None:
        super().__init__(limit, secrets, context)
        self._counting = mode == "count"
        self._rest = b""
        self._found: dict[str, int] = {}

    def feed(self, chunk: bytes) -> None:
        *whole, self._rest = (self._rest + chunk).split(b"\n" if self._counting else b"\0")
        if self._counting:
            whole, self._rest = _with_counts(whole, self._rest)
        for record in whole:
            path, _, count = record.partition(b"\0")
            self._take(decode(path), int(count or 1))

    def _take(self, path: str, count: int) -> None:
        if self.secrets.hides(path):
            return
        self.files += 1
        self.matches += count
        if len(self._found) < _MAX_SORTED:
            self._found[path] = count
        if self.files <= self.limit:
            name = self.names.format(path)
            self.progress.add(f"{name}: {count}" if self._counting else name)

    @property
    def full(self) -> bool:
        return False

    @property
    def overfull(self) -> bool:
        return self.files >= _MAX_SORTED

    @property
    def summary(self) -> str:
        if self._counting or not self.files:
            return super().summary
        return self._at_least(
            trn("{n:,} file with matches", "{n:,} files with matches", self.files)
        )

    @property
    def notes(self) -> list[str]:
        return [self.more(self.files, "files")]

    def report(self, max_chars: int) -> tuple[str, Display | None]:
        if not self._found:
            return "No matches.", None
        if self._counting:
            return self._counts(max_chars)
        paths = list(self._found)
        ordered = newest_first(paths) if self.whole else sorted(paths)
        text = self._list(map(self.names.format, ordered), max_chars)
        return text, TextBlock(text=text)

    def _list(self, lines: Iterable[str], max_chars: int) -> str:
        """One below the other, as many as are wanted and fit."""
        kept: list[str] = []
        for line in islice(lines, self.limit):
            max_chars -= len(line) + 1
            if max_chars < 0 and kept:
                break
            kept.append(line)
        self.shown = len(kept)
        return "\n".join(kept)

    def _counts(self, max_chars: int) -> tuple[str, Display | None]:
        most = sorted(self._found.items(), key=lambda item: (-item[1], item[0]))[: self.limit]
        rows = tuple((self.names.format(path), str(count)) for path, count in most)
        text = self._list((f"{name}: {count}" for name, count in rows), max_chars)
        columns = (tr("File"), tr("Matches"))
        return f"{text}\n{self.total}", TableBlock(columns=columns, rows=rows)


Findings = FoundLines | FoundFiles


def _with_counts(pieces: list[bytes], rest: bytes) -> tuple[list[bytes], bytes]:
    """Lines put together again where the newline was part of a file's name."""
    whole: list[bytes] = []
    held = b""
    for piece in pieces:
        held += piece
        if b"\0" in piece:
            whole.append(held)
            held = b""
        else:
            held += b"\n"
    return whole, held + rest
