"""Finds files of the project by a few letters of their path."""

import asyncio
import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from threading import Event

from agent_cli.lib.find_program import find_program

_MAX_FILES = 400_000
_SLICE = 4_000
_WANTED = 50
_ARGUMENTS = ("--files", "--null", "--no-config", "--no-messages", "--hidden", "--glob=!.git")
_SKIPPED = {".git", "node_modules", "__pycache__", ".venv"}


class FileIndex:
    """The names of all files that git does not ignore, read in the background."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._slices: tuple[str, ...] = ()
        self._stop = Event()
        self.is_loaded = False

    async def load(self) -> None:
        """Read the names anew; the old ones serve until then."""
        program = find_program("rg")
        names = await (self._ask(program) if program else asyncio.to_thread(self._walk))
        self._slices = await asyncio.to_thread(_slice_names, names)
        self.is_loaded = True

    def use(self, names: Sequence[str]) -> None:
        """Take these names instead of reading any."""
        self._slices = _slice_names(names)
        self.is_loaded = True

    async def find(self, query: str) -> tuple[str, ...]:
        """The best matches, best first. A new search ends the one before."""
        self._stop.set()
        stop = self._stop = Event()
        return await asyncio.to_thread(best, self._slices, query, stop)

    async def _ask(self, program: str) -> list[str]:
        process = await asyncio.create_subprocess_exec(
            program,
            *_ARGUMENTS,
            cwd=self._root,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            output, _ = await process.communicate()
        except asyncio.CancelledError:
            process.kill()
            raise
        return os.fsdecode(output).split("\0")[:_MAX_FILES]

    def _walk(self) -> list[str]:
        return list(islice(self._names(), _MAX_FILES))

    def _names(self) -> Iterator[str]:
        for directory, below, names in os.walk(self._root):
            below[:] = sorted(name for name in below if name not in _SKIPPED)
            start = Path(directory).relative_to(self._root)
            yield from (str(start / name) for name in names)


def best(slices: Sequence[str], query: str, stop: Event, wanted: int = _WANTED) -> tuple[str, ...]:
    """Names that begin with the query, contain it, or have its letters in order, in that order.

    The regular expressions run over slices of joined names, so that the search is fast and no
    slice keeps other threads waiting for long. The shortest names come first in the slices, so
    the first matches are the best ones.
    """
    found: dict[str, None] = {}
    for pattern in _patterns(query):
        for text in slices:
            if stop.is_set():
                return ()
            for match in pattern.finditer(text):
                found[match[0]] = None
                if len(found) >= wanted:
                    return tuple(found)
    return tuple(found)


def _patterns(query: str) -> Iterator[re.Pattern[str]]:
    if not query:
        yield re.compile(r"^[^/\n]+$", re.MULTILINE)
        yield re.compile(r"^.+$", re.MULTILINE)
        return
    flags = re.MULTILINE | (re.IGNORECASE if query == query.lower() else re.NOFLAG)
    exact = re.escape(query)
    scattered = "[^\n]*?".join(re.escape(letter) for letter in query)
    yield re.compile(rf"^(?:[^\n]*/)?{exact}[^/\n]*$", flags)
    yield re.compile(rf"^[^\n]*{exact}[^\n]*$", flags)
    yield re.compile(rf"^[^\n]*?{scattered}[^\n]*$", flags)


def _length_first(name: str) -> tuple[int, str]:
    return len(name), name


def _slice_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names that can be shown and typed, joined by lines; others cannot be picked."""
    usable = sorted((name for name in names if name and name.isprintable()), key=_length_first)
    return tuple("\n".join(usable[at : at + _SLICE]) for at in range(0, len(usable), _SLICE))
