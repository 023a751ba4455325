"""The pages of the documentation, and what can be checked in them."""

import re
import shlex
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.kit.program import ROOT

PAGES = (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")))
_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`(agent(?: [^`]*)?)`")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_SUBSTITUTION = re.compile(r"\$\(([^)]*)\)")
_OPERATORS = frozenset("|<>&;")


@dataclass(frozen=True)
class Command:
    """A command line of ours that a page tells a person to type."""

    page: str
    line: str
    arguments: tuple[str, ...]
    stands_alone: bool
    """In a block of its own, to be typed as it is; otherwise only mentioned in a sentence."""

    def __str__(self) -> str:
        return f"{self.page}: {self.line}"


def blocks(page: Path, language: str) -> list[str]:
    """The blocks of a page in one language."""
    found = _BLOCK.findall(page.read_text(encoding="utf-8"))
    return [textwrap.dedent(text) for _, named, text in found if named == language]


def links(page: Path) -> list[str]:
    """Where the links of a page lead that lead to a file."""
    text = _BLOCK.sub("", page.read_text(encoding="utf-8"))
    return [to for to in _LINK.findall(text) if not re.match(r"[a-z]+:|#", to)]


def commands() -> Iterator[Command]:
    """Every command line of ours in all pages, but for the history of what once was."""
    for page in PAGES:
        if page.name == "CHANGELOG.md":
            continue
        name = page.relative_to(ROOT).as_posix()
        for line in "".join(blocks(page, "sh")).splitlines():
            for arguments in _ours(line):
                yield Command(name, line, arguments, stands_alone=True)
        prose = _BLOCK.sub("", page.read_text(encoding="utf-8"))
        for span in _SPAN.findall(prose):
            for arguments in _ours(span):
                yield Command(name, span, arguments, stands_alone=False)


def _ours(line: str) -> Iterator[tuple[str, ...]]:
    """The arguments of each `agent` in a line of shell."""
    for inner in _SUBSTITUTION.findall(line):
        yield from _ours(inner)
    for words in _simple_commands(_SUBSTITUTION.sub("", line)):
        if words and Path(words[0]).name == "agent":
            yield tuple(_given(word) for word in words[1:])


def _simple_commands(line: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|<>&;")
    lexer.whitespace_split = True
    words: list[str] = []
    is_file = False
    for token in lexer:
        if set(token) <= _OPERATORS:
            is_file = token in ("<", ">", ">>")
            if not is_file:
                yield words
                words = []
        elif is_file:
            is_file = False
        else:
            words.append(token)
    yield words


def _given(word: str) -> str:
    """A word as if what is optional were given, and a number where one is wanted."""
    bare = word.removeprefix("[").removesuffix("]")
    return "3" if bare in ("N", "DAYS") else bare
