"""Glob patterns: taken apart, and turned into a test that cannot run away.

`*` and `?` stay within a name, `**` crosses directories, `[a-z]` and `{a,b}` as in a shell. A
pattern without a slash matches names at any depth.
"""

import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any

from pydantic import BeforeValidator

from agent_cli.core.errors import ToolFailure, refuse

_SPECIAL = frozenset("*?[]{}\\")
_MAX_ALTERNATIVES = 200


def _join(given: Any) -> Any:
    """A list of globs, as models often give it, becomes what `split_list` takes apart."""
    if isinstance(given, list) and all(isinstance(glob, str) for glob in given):
        return ",".join(given)
    return given


Globs = Annotated[str, BeforeValidator(_join)]
"""One glob or several, separated by commas."""


def split_base(path: str, pattern: str) -> tuple[str, str]:
    """Where to start and what to look for there: directories named plainly belong to the start.

    `src/**/*.py` becomes `src` and `**/*.py`; the last part always stays with the pattern.
    """
    while pattern.startswith("./"):
        pattern = pattern[2:].lstrip("/")
    start = ""
    if pattern.startswith("/"):
        start, pattern = "/", pattern.lstrip("/")
    parts = pattern.split("/")
    count = next(
        (n for n, part in enumerate(parts[:-1]) if _SPECIAL & set(part)), max(len(parts) - 1, 0)
    )
    base = start + "/".join(part for part in parts[:count] if part not in ("", "."))
    rest = "/".join(parts[count:])
    # Taken off its directory a plain name would be looked for at every depth.
    anchored = rest if (count == 0 and not start) or "/" in rest else f"/{rest}"
    if base.startswith(("/", "~")) or path in ("", "."):
        return base or ".", anchored
    return f"{path}/{base}" if base else path, anchored


def split_list(text: str) -> list[str]:
    """Globs separated by commas; commas in braces separate alternatives."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "{") - (character == "}")
        if character == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    everything = ("", "*", "**", "**/*", "*.*", "**/*.*")
    return [part.strip() for part in parts if part.strip() not in everything]


def alternatives(pattern: str) -> list[str]:
    """The pattern with its braces written out."""
    found = list(_expand(pattern))
    if len(found) > _MAX_ALTERNATIVES:
        raise _too_many()
    return found


def _expand(pattern: str) -> Iterator[str]:
    waiting = [pattern]
    produced = 0
    while waiting and produced <= _MAX_ALTERNATIVES:
        current = waiting.pop()
        inner = re.search(r"(?<!\\)\{([^{}]*)\}", current)
        if inner is None:
            produced += 1
            yield current
            continue
        before, after = current[: inner.start()], current[inner.end() :]
        waiting += [before + option + after for option in reversed(inner[1].split(","))]
        if len(waiting) > _MAX_ALTERNATIVES:
            raise _too_many()


def _too_many() -> ToolFailure:
    return refuse(f"The pattern has more than {_MAX_ALTERNATIVES} brace alternatives.")


def matcher(patterns: list[str]) -> Callable[[str], object]:
    """A test for paths relative to where the search starts, for patterns without braces."""
    try:
        return re.compile("|".join(f"(?:{_regex(p)})" for p in patterns), re.DOTALL).fullmatch
    except re.error as error:
        said = f"The glob {patterns[0][:200]!r} is not valid: {error.msg}."
        raise refuse(said) from error


def _regex(pattern: str) -> str:
    """Each part between two `**` is matched at the first place it fits, which is always enough."""
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if "/" not in pattern:
        parts.insert(0, "**")
    groups: list[list[str]] = [[]]
    for part in parts:
        if part == "**":
            groups.append([])
        else:
            groups[-1].append(_part(part))
    first, *later = ["/".join(group) for group in groups]
    if not later:
        return first
    *middle, last = later
    if not (first or middle) and last and "/" not in last:
        return f"(?>(?:.*/)?){last}"  # the most common kind: only the name counts
    anywhere = "".join(f"(?>(?:[^/]+/)*?{group}/)" for group in middle if group)
    end = f"(?:[^/]+/)*?{last}" if last else ".+"
    return f"{first + '/' if first else ''}{anywhere}{end}"


def _part(part: str) -> str:
    """A name as a regular expression; `*`, `?` and `[` do not match a dot at its beginning."""
    pieces = [""]
    position = 0
    while position < len(part):
        character = part[position]
        position += 1
        if character == "*":
            if len(pieces) == 1 or pieces[-1]:
                pieces.append("")
        elif character == "?":
            pieces[-1] += "[^/]"
        elif character == "[":
            text, position = _class(part, position)
            pieces[-1] += text
        elif character == "\\" and position < len(part):
            pieces[-1] += re.escape(part[position])
            position += 1
        else:
            pieces[-1] += re.escape(character)
    visible = r"(?!\.)" if part[0] in "*?[" else ""
    first, *later = pieces
    if not later:
        return visible + first
    *middle, last = later
    return f"{visible}{first}{''.join(f'(?>[^/]*?{piece})' for piece in middle)}[^/]*{last}"


def _class(part: str, start: int) -> tuple[str, int]:
    """A class such as `[a-z]` or `[!0-9]`, and where the part goes on."""
    negated = part[start : start + 1] in ("!", "^")
    begin = start + negated
    end = part.find("]", begin + 1)
    if end < 0:
        raise refuse(f"A [ in {part[:200]!r} is not closed; write \\[ for a literal bracket.")
    inner = part[begin:end].replace("\\", r"\\").replace("[", r"\[").replace("^", r"\^")
    inner = inner.replace("&", r"\&").replace("~", r"\~").replace("|", r"\|")
    return f"(?!/)[{'^' if negated else ''}{inner}]", end + 1
