"""File patterns: which names one could match, by every way a shell may read it.

The notation is that of `Word.pattern`: `*`, `?`, and `[…]` for exactly the characters in it. What
shells and locales differ on (negation, ranges) stands as `?` there, so more may match here than
will be matched, never less.
"""

import os
import re
from collections.abc import Iterator
from functools import lru_cache

from agent_cli.safety.sensitive import SECRET_COMPONENTS, SECRET_NAMES, is_secret

# Too vague to mean a secret; what they match on the disk is looked at file by file.
VAGUE = re.compile(r"\*+(\.(json|ya?ml|toml))?")
WILD = re.compile(r"[*?\[]")


def literal(path: str) -> str:
    """The pattern that matches this path alone."""
    return re.sub(r"[*?\[]", r"[\g<0>]", path)


def may_match_parent(component: str) -> bool:
    """Older shells let `.*` match `..`."""
    return component.startswith(".") and component != ".." and could_match(component, "..")


def could_match(component: str, name: str) -> bool:
    """Whether a shell may take the name for a match: by characters, or in some locales by bytes."""
    if _regex(component).fullmatch(name):
        return True
    if name.isascii():
        return False
    in_bytes = os.fsencode(name).decode("latin-1")
    return _regex(os.fsencode(component).decode("latin-1")).fullmatch(in_bytes) is not None


@lru_cache(maxsize=1024)
def _regex(component: str) -> re.Pattern[str]:
    parts = re.split(r"(\[.[^\]]*\]|[*?])", component)
    wild = {"*": ".*", "?": "."}
    return re.compile("".join(wild.get(part) or _one_of(part) for part in parts), re.DOTALL)


def _one_of(part: str) -> str:
    if len(part) > 2 and part[0] == "[" and part[-1] == "]":
        return f"[{re.escape(part[1:-1])}]"
    return re.escape(part)


def matches_on_disk(pattern: str, left: int) -> Iterator[str | None]:
    """The paths that an absolute pattern may match now; None when that is too much to look at."""
    found = ["/"]
    for component in pattern.split("/")[1:]:
        below: list[str] = []
        for directory in found:
            prefix = directory.rstrip("/") + "/"
            if not WILD.search(component):
                if os.path.lexists(prefix + component):
                    below.append(prefix + component)
                continue
            names = _names_in(directory)
            left -= len(names)
            if left < 0:
                yield None
                return
            below += [prefix + name for name in names if _is_match(component, name)]
        found = below
    yield from found


def _is_match(component: str, name: str) -> bool:
    return (component[0] == "." or name[0] != ".") and could_match(component, name)


def _names_in(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))  # noqa: PTH208  text, as it was resolved
    except OSError:
        return []


@lru_cache(maxsize=1024)
def may_match_secret(component: str) -> str | None:
    """The secret name a path component could match; a lone `*` is too vague to say."""
    folded = component.casefold()
    if not folded or VAGUE.fullmatch(folded):
        return None
    open_start = folded[0] in "*?["
    for name in (*SECRET_NAMES, *SECRET_COMPONENTS):
        if name.startswith(".") and open_start:
            continue  # hidden files need a literal dot
        # `*.py` does not mean id_rsa.py.
        if overlap(folded, name.rstrip("*") if open_start else name):
            return name
    return None


def may_select_secret(glob: str) -> str | None:
    """The secret name that a search is pointed at by a glob of its own (`--include`, `-g`)."""
    for part in glob.split("/"):
        if WILD.search(part):
            found = may_match_secret(part)
        else:
            found = part if is_secret(f"/{part}", "/") else None
        if found:
            return found
    return None


def overlap(one: str, other: str) -> bool:
    """Is there a name that both patterns match? Bracket sets count as any character."""
    first, second = _tokens(one), _tokens(other)
    reached = {(0, 0)}
    pending = [(0, 0)]
    while pending:
        i, j = pending.pop()
        if i == len(first) and j == len(second):
            return True
        for step in _steps(first, second, i, j):
            if step not in reached:
                reached.add(step)
                pending.append(step)
    return False


def _steps(first: list[str], second: list[str], i: int, j: int) -> list[tuple[int, int]]:
    steps = []
    a = first[i] if i < len(first) else ""
    b = second[j] if j < len(second) else ""
    if a == "*":
        steps.append((i + 1, j))
        if b and b != "*":
            steps.append((i, j + 1))
    if b == "*":
        steps.append((i, j + 1))
        if a and a != "*":
            steps.append((i + 1, j))
    if a and b and "*" not in (a, b) and (a == b or "?" in (a, b)):
        steps.append((i + 1, j + 1))
    return steps


def _tokens(pattern: str) -> list[str]:
    tokens: list[str] = []
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "[":
            close = pattern.find("]", at + 2)
            if close > 0:
                tokens.append("?")
                at = close + 1
                continue
        tokens.append(char)
        at += 1
    return tokens
