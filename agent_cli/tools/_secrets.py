"""Keeps files that may hold secrets out of a search, before anything in them is compared.

Dropping what was found in them would not do: whether a pattern matches tells what is in a file.
"""

import os
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase, translate
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
                candidates = _candidates().finditer(whole + b"\0")
                count += sum(self.hides(decoded(found[1])) for found in candidates)
                looked_at += whole.count(b"\0") + 1
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
    words = set(words)
    starts = sorted({word[:end] for word in words for end in range(len(word) + 1)})
    found = [start for start in starts if start not in words]
    for start in starts:
        following = {word[len(start)] for word in words if word.startswith(start) and word != start}
        other = f"[!{''.join(sorted(following))}]" if following else "?"
        found.append(f"{start}{other}*")
    return found


def _literal(name: str) -> str:
    return re.sub(r"([*?\[\]{}\\])", r"\\\1", name)


@lru_cache(maxsize=1)
def _candidates() -> re.Pattern[bytes]:
    """Paths in a NUL-separated list whose name or directory may be secret."""
    names = "|".join(_inner(pattern) for pattern in SECRET_NAMES)
    parts = "|".join(re.escape(name) for name in SECRET_COMPONENTS)
    last = {os.path.basename(path) for path in (*SECRET_HOME, *SECRET_SYSTEM)}  # noqa: PTH119
    places = "|".join(re.escape(name) for name in sorted(last))
    whole = rf"(?<![^\0])([^\0]*/(?:(?:{names})|(?:{parts}|{places})(?:/[^\0]*)?))\0"
    return re.compile(whole.encode(), re.IGNORECASE)


def _inner(pattern: str) -> str:
    """A glob as a regular expression for one name in such a list."""
    return translate(pattern).removeprefix("(?s:").removesuffix(r")\Z").replace(".*", r"[^/\0]*")
