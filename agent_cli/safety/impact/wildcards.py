"""Expand wildcards as bash would, on the disk as it is now."""

# Names are handled as text, as the shell does: pathlib would drop or merge parts.
# ruff: noqa: PTH112, PTH118

import os
import re
from fnmatch import translate

from agent_cli.safety.impact.clock import Clock, NotCounted
from agent_cli.safety.reasons import because

MAX_MATCHES = 200_000
_MAGIC = re.compile(r"[*?[]")


def is_pattern(word: str) -> bool:
    """Whether bash would look for names that match."""
    return _MAGIC.search(word) is not None


def matches(pattern: str, cwd: str, clock: Clock) -> list[str]:
    """The names that match, written as the pattern is, as far as time allows."""
    if "[:" in pattern or "[." in pattern or "[=" in pattern:
        raise NotCounted(because("ambiguous_pattern"))
    found = ["/"] if pattern.startswith("/") else [""]
    components = [part for part in pattern.strip("/").split("/") if part]
    for index, component in enumerate(components):
        is_last = index == len(components) - 1 and not pattern.endswith("/")
        found = [
            name
            for base in clock.within(found)
            for name in clock.within(_step(base, component, cwd))
            if is_last or os.path.isdir(os.path.join(cwd, name))
        ]
        if len(found) > MAX_MATCHES:
            raise NotCounted(because("wide_pattern"))
    return [name + "/" for name in found] if pattern.endswith("/") else found


def _step(base: str, component: str, cwd: str) -> list[str]:
    plain = _as_plain(component)
    if plain is not None:
        path = os.path.join(base, plain)
        return [path] if os.path.lexists(os.path.join(cwd, path)) else []
    fits = re.compile(translate(component.replace("[^", "[!"))).match
    hidden = component.startswith(".")
    try:
        names = os.listdir(os.path.join(cwd, base) or ".")  # noqa: PTH208
    except OSError:
        return []
    return sorted(
        os.path.join(base, name)
        for name in names
        if (hidden or not name.startswith(".")) and fits(name)
    )


def _as_plain(component: str) -> str | None:
    """The name itself, when it has no wildcards or all in it were quoted."""
    rest = re.sub(r"\[[*?[]\]", "", component)
    return None if is_pattern(rest) else re.sub(r"\[([*?[])\]", r"\1", component)
