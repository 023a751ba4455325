"""The words of a docstring: what a function does, and what each parameter means."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

_ARGUMENTS = re.compile(r"^(?:Args|Arguments|Parameters):\s*$", re.MULTILINE)
_OTHER_SECTION = re.compile(
    r"^(?:Returns|Yields|Raises|Examples?|Notes?|Args|Arguments|Parameters):", re.MULTILINE
)
_SPHINX = re.compile(r"^:param (?:[\w\[\], .|]+ )?(\w+):[ \t]*", re.MULTILINE)
_ENTRY = re.compile(r"^[ \t]*\*{0,2}(\w+)[ \t]*(?:\([^)]*\))?:[ \t]*(.*)$")


@dataclass(frozen=True)
class Docstring:
    """A docstring in Google's or Sphinx's layout, or none in particular."""

    short: str = ""
    long: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Self:
        """The words of a function."""
        text = inspect.getdoc(function) or ""
        parameters = {**_google(text), **_sphinx(text)}
        ends = [
            found.start() for found in (_OTHER_SECTION.search(text), _SPHINX.search(text)) if found
        ]
        short, _, long = text[: min(ends, default=len(text))].strip().partition("\n\n")
        return cls(" ".join(short.split()), long.strip(), parameters)


def _google(text: str) -> dict[str, str]:
    """The entries below `Args:`; a line that is indented deeper belongs to the one above."""
    found = _ARGUMENTS.search(text)
    if found is None:
        return {}
    words: dict[str, str] = {}
    edge, name = None, ""
    for line in text[found.end() :].splitlines()[1:]:
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent == 0:
            break
        edge = indent if edge is None and line.strip() else edge
        entry = _ENTRY.match(line)
        if entry and indent == edge:
            name = entry[1]
            words[name] = entry[2]
        elif name and line.strip():
            words[name] = f"{words[name]} {line.strip()}"
    return words


def _sphinx(text: str) -> dict[str, str]:
    """The `:param name:` entries, each up to the next field."""
    words: dict[str, str] = {}
    for found in _SPHINX.finditer(text):
        rest = re.split(r"^:", text[found.end() :], maxsplit=1, flags=re.MULTILINE)[0]
        words[found[1]] = " ".join(rest.split())
    return words
