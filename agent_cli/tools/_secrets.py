"""Keeps files that may hold secrets out of a search, before anything in them is compared.

Dropping what was found in them would not do: whether a pattern matches tells what is in a file.
"""

import os
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from agent_cli.core.tool_context import ToolContext
from agent_cli.lib.text import plural
from agent_cli.safety.sensitive import (
    NOT_SECRET,
    SECRET_COMPONENTS,
    SECRET_HOME,
    SECRET_NAMES,
    SECRET_SYSTEM,
    is_secret,
)
from agent_cli.tools._places import Place, decoded
from agent_cli.tools._ripgrep import ripgrep

_MOST_LOOKED_AT = 5_000
"""Files listed to count the secret ones; in a large tree listing all would cost too much."""


class Secrets:
    """What may not be read below a place; a place that is itself secret was permitted as such."""

    def __init__(self, place: Place, context: ToolContext) -> None:
        self._home = context.workspace.home
        self._place = place
        self._lifted = is_secret(place.real, self._home) is not None

    @property
    def arguments(self) -> list[str]:
        """What makes ripgrep pass over them."""
        if self._lifted or self._place.is_file:
            return []
        # One glob with alternatives is tested faster than many globs.
        names = f"{{{','.join(_name_globs())}}}"
        own = _below(self._place.directory, self._home)
        return [f"--iglob=!{glob}" for glob in (names, *own)]

    def hides(self, path: str) -> bool:
        """Whether a path is secret, for names that globs do not tell apart."""
        return not self._lifted and is_secret(path, self._home) is not None

    async def note(self, command: Any, context: ToolContext) -> str:
        """How many files the search passed over; `command` lists files as the search chose them."""
        if self._lifted or self._place.is_file:
            return ""
        rest, looked_at, count = b"", 0, 0
        place = self._place
        async with ripgrep(command, context, directory=place.directory, paths=[place.real]) as run:
            while chunk := await run.read():
                whole, _, rest = (rest + chunk).rpartition(b"\0")
                paths = decoded(whole).split("\0")
                count += sum(self.hides(path) for path in _candidates(paths))
                looked_at += len(paths)
                if looked_at >= _MOST_LOOKED_AT:
                    run.stop()
        return _told(count, whole=not run.stopped)


def _told(count: int, *, whole: bool) -> str:
    if not count:
        return "" if whole else "Files that may hold secrets, if there are any, were not searched."
    at_least = "" if whole else "At least "
    were = "was" if count == 1 else "were"
    return f"{at_least}{plural(count, 'file')} that may hold secrets {were} not searched."


def _below(directory: str, home: str) -> Iterator[str]:
    """Globs for the secret paths of the home directory and the system that are in a directory."""
    named = [os.path.join(home, name) for name in SECRET_HOME]  # noqa: PTH118
    for path in (*named, *SECRET_SYSTEM):
        inside = os.path.relpath(path, directory)
        if not inside.startswith("../") and inside != ".":
            yield "/" + _literal(inside)


@lru_cache(maxsize=1)
def _name_globs() -> tuple[str, ...]:
    """Globs for every secret name and none of the exceptions."""
    found = [_literal(name) for name in SECRET_COMPONENTS]
    for pattern in SECRET_NAMES:
        harmless = [name for name in NOT_SECRET if fnmatchcase(name, pattern)]
        if harmless:
            before, _, after = pattern.partition("*")
            words = [name[len(before) : len(name) - len(after)] for name in harmless]
            found += [f"{before}{glob}{after}" for glob in all_but(words)]
        else:
            found.append(pattern)
    return tuple(dict.fromkeys(found))


def all_but(words: Iterable[str]) -> list[str]:
    """Globs that together match every text except these words: globs know no "not"."""
    return ["", _continuing("", frozenset(words))]


def _continuing(start: str, words: frozenset[str]) -> str:
    """A glob for everything that can follow a start, at least one character, but for the words."""
    following = sorted(
        {word[len(start)] for word in words if word.startswith(start) and word != start}
    )
    if not following:
        return "?*"
    options = [f"[!{''.join(following)}]*"]
    for character in following:
        if start + character not in words:
            options.append(character)
        options.append(character + _continuing(start + character, words))
    return f"{{{','.join(options)}}}"


def _literal(name: str) -> str:
    return re.sub(r"([*?\[\]{}\\])", r"\\\1", name)


def _candidates(paths: Iterable[str]) -> Iterator[str]:
    """The paths that may be secret: told quickly, because there are many of them."""
    starts, ends, parts = _signs()
    for path in paths:
        folded = path.casefold()
        name = folded.rpartition("/")[2]
        if (
            name.startswith(starts)
            or name.endswith(ends)
            or not parts.isdisjoint(folded.split("/"))
        ):
            yield path


@lru_cache(maxsize=1)
def _signs() -> tuple[tuple[str, ...], tuple[str, ...], frozenset[str]]:
    """How secret names begin, how the others end, and names of secret places."""
    starts = {start for pattern in SECRET_NAMES if (start := pattern.partition("*")[0])}
    ends = {pattern.rpartition("*")[2] for pattern in SECRET_NAMES if pattern.startswith("*")}
    places = {path.rpartition("/")[2] for path in (*SECRET_HOME, *SECRET_SYSTEM)}
    return tuple(starts), tuple(ends), frozenset({*SECRET_COMPONENTS, *places})
