"""Finds what rules say about files that a command reads without naming them."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace

from agent_cli.core.deciding.rules import Facts, PathFact
from agent_cli.safety.sensitive import MAX_ENTRIES

Matchers = tuple[Callable[[str], bool], ...]


def name_ruled_out(facts: Facts, matchers: Matchers) -> Facts:
    """The facts, with each file named that the call reads in a directory and a rule speaks of."""
    found: dict[str, None] = {}
    unlisted = []
    for tree in facts.trees:
        for path in _below(tree):
            if path is None:
                unlisted.append(tree)
            elif any(match(path) for match in matchers):
                found[path] = None
    named = tuple(PathFact(path, path, "read") for path in found)
    return replace(facts, paths=facts.paths + named, unlisted=tuple(unlisted))


def _below(tree: str) -> Iterator[str | None]:
    """All that is in a directory; None where it is too much, or closed."""
    left = MAX_ENTRIES
    pending = [tree]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    left -= 1
                    yield entry.path
                    if not entry.is_dir(follow_symlinks=False):
                        continue
                    if not entry.path.endswith("/.git/objects"):
                        pending.append(entry.path)
        except (NotADirectoryError, FileNotFoundError):
            continue
        except OSError:
            yield None
        if left < 0:
            yield None
            return
