"""Keeps files that may hold secrets, or that a rule speaks of, out of a search.

ripgrep passes over most of them; what it finds in the others is dropped before it is counted, so
that nobody can tell from an answer whether a pattern matches in them.
"""

import fnmatch
import re
from collections.abc import Iterator
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
    candidates,
    is_secret,
)
from agent_cli.tools._places import SearchRoot, decode
from agent_cli.tools._ripgrep import ripgrep

_MAX_LOOKED_AT = 5_000
"""Files listed to count the secret ones; in a large tree listing all would cost too much."""


class Secrets:
    """What may not be read below a place; a place that is itself secret was permitted as such."""

    def __init__(self, place: SearchRoot, context: ToolContext) -> None:
        self._home = context.workspace.home
        self._place = place
        self._lifted = is_secret(place.real, self._home) is not None
        self._may_read = context.may_read

    @property
    def arguments(self) -> list[str]:
        """What makes ripgrep pass over most of them, at no cost: only `hides` knows them all."""
        if self._lifted or self._place.is_file:
            return []
        own = _below(self._place, self._home)
        return [*_plain_names(), *(f"--glob=!{glob}" for glob in own)]

    def hides(self, path: str) -> bool:
        """Whether nothing found at a path may be counted or shown."""
        return self._is_ruled_out(path) or self._is_secret(path)

    def _is_secret(self, path: str) -> bool:
        return not self._lifted and is_secret(path, self._home) is not None

    def _is_ruled_out(self, path: str) -> bool:
        return self._may_read is not None and not self._may_read(path)

    async def note(self, command: Any, context: ToolContext) -> str:
        """How many files the search passed over; `command` lists files as the search chose them."""
        if self._place.is_file or (self._lifted and self._may_read is None):
            return ""
        rest, looked_at, count, ruled_out = b"", 0, 0, 0
        place = self._place
        async with ripgrep(command, context, directory=place.directory, paths=[place.real]) as run:
            while chunk := await run.read():
                whole, _, rest = (rest + chunk).rpartition(b"\0")
                paths = decode(whole).split("\0")
                if self._may_read is not None:
                    open_ = [path for path in paths if not path or self._may_read(path)]
                    ruled_out += len(paths) - len(open_)
                    paths = open_
                count += sum(self._is_secret(path) for path in candidates(paths))
                looked_at += len(paths)
                if looked_at >= _MAX_LOOKED_AT:
                    run.stop()
        notes = (describe_ruled_out(ruled_out), _describe(count, whole=not run.stopped))
        return " ".join(filter(None, notes))


def describe_ruled_out(count: int) -> str:
    """What to tell about files that a search passed over because of a rule."""
    if not count:
        return ""
    were, them = ("was", "it") if count == 1 else ("were", "them")
    return (
        f"{plural(count, 'file')} {were} left out: a permission rule keeps {them} from being read."
    )


def _describe(count: int, *, whole: bool) -> str:
    if not count:
        return "" if whole else "Files that may hold secrets, if there are any, were left out."
    at_least = "" if whole else "At least "
    were = "was" if count == 1 else "were"
    return f"{at_least}{plural(count, 'file')} that may hold secrets {were} left out."


def _below(place: SearchRoot, home: str) -> Iterator[str]:
    """Globs for the secret paths of the home directory and the system that are in a place."""
    for path in (*(f"{home}/{name}" for name in SECRET_HOME), *SECRET_SYSTEM):
        if path.startswith(place.prefix):
            yield "/" + _literal(path.removeprefix(place.prefix))


@lru_cache(maxsize=1)
def _plain_names() -> tuple[str, ...]:
    """Arguments for the names that ripgrep looks up in a table.

    Anything else becomes a regular expression, which takes longer to compile than the first
    match takes to find.
    """
    names = (_literal(name) for name in SECRET_COMPONENTS)
    patterns = (pattern for pattern in SECRET_NAMES if _is_plain(pattern))
    return tuple(f"--glob=!{glob}" for glob in (*names, *patterns))


def _is_plain(pattern: str) -> bool:
    """Whether it is a name or an ending, and catches no name that is known to be harmless."""
    if set(pattern.removeprefix("*.")) & set("*?["):
        return False
    is_ending = pattern.startswith("*.") and pattern.count(".") == 1
    return (is_ending or "*" not in pattern) and not fnmatch.filter(NOT_SECRET, pattern)


def _literal(name: str) -> str:
    return re.sub(r"([*?\[\]{}\\])", r"\\\1", name)
