"""What a person asks the guide for, understood from plain English or Chinese."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from agent_cli.lib.language import spoken
from agent_cli.models.guide import wordings
from agent_cli.models.guide.wordings import Simple

Language = Literal["en", "zh"]


@dataclass(frozen=True)
class Plain:
    """A wish that its name says whole."""

    kind: Simple


@dataclass(frozen=True)
class Show:
    """Read a file, or some of its lines."""

    path: str
    first: int | None = None
    last: int | None = None


@dataclass(frozen=True)
class Listing:
    """List a directory."""

    path: str = "."
    recursive: bool = False


@dataclass(frozen=True)
class Find:
    """Find files by name."""

    pattern: str


@dataclass(frozen=True)
class Search:
    """Search for a text, or a regular expression."""

    pattern: str
    path: str = "."
    is_regex: bool = False


@dataclass(frozen=True)
class Diff:
    """The changes themselves, by git."""

    path: str = ""


@dataclass(frozen=True)
class Run:
    """Run a command."""

    command: str


@dataclass(frozen=True)
class Swap:
    """Put one text in place of another: in one file, in those of a glob, or (empty) unsaid."""

    old: str
    new: str
    path: str = ""


@dataclass(frozen=True)
class Create:
    """Make a file."""

    path: str
    content: str = ""


@dataclass(frozen=True)
class Delete:
    """Remove a file."""

    path: str


Wish = Plain | Show | Listing | Find | Search | Diff | Run | Swap | Create | Delete

EVERYWHERE = "**"
LONGEST = 2_000
"""Characters; what is longer can only be the content of a file, or a command."""

_POLITE = re.compile(
    r"(?:(?:please|pls|can you|could you|would you|will you|i want (?:you )?to|i'd like (?:you )?to"
    r"|now|then|ok|okay|and)\b[\s,]*|(?:请问|请|麻烦|帮我|帮忙|给我|我想要?|我要|现在|然后)\s*)+",
    re.IGNORECASE,
)
_END = re.compile(r"(?<=[^\s.])(?:[.!?]|[。！？]|吗|吧|呢|\bplease\b|\s)+$", re.IGNORECASE)


def understand(text: str) -> Wish:
    """The wish behind the words; `unknown` for everything that is not among the guide's."""
    text = text.strip()
    said = text[match.end() :].lstrip() if (match := _POLITE.match(text)) else text
    for form in _forms():
        if len(said) > LONGEST and not form.is_literal:
            continue
        candidate = said if form.is_literal else _END.sub("", said)
        if match := form.pattern.fullmatch(candidate):
            wish = form.make({k: _unquoted(v) for k, v in match.groupdict("").items()})
            if wish is not None:
                return wish
    return Plain("unknown")


def language_of(text: str) -> Language:
    """Chinese as soon as there is a Chinese character; a lone word is said in any language."""
    if re.search(r"[\u4e00-\u9fff]", text):
        return "zh"
    words = [word for word in text.split() if word.strip(".,:;!?").isalpha()]
    return "en" if len(words) > 1 else usual_language()


def usual_language() -> Language:
    """That of the program, for what is said in none."""
    return "zh" if spoken() == "zh" else "en"


@dataclass(frozen=True)
class _Form:
    """One way to put a wish; `is_literal`: even the last full stop belongs to it."""

    pattern: re.Pattern[str]
    make: Callable[[dict[str, str]], Wish | None]
    is_literal: bool = False


@cache
def _forms() -> tuple[_Form, ...]:
    return tuple(_all_forms())


def _form(
    pattern: str, make: Callable[[dict[str, str]], Wish | None], *, literal: bool = False
) -> _Form:
    """`<name>` is a word or something in quotes, `<name…>` anything."""
    pattern = re.sub(r"(?<!P)<(\w+)>", rf"(?P<\1>{wordings.QUOTED}|\\S+?)", pattern)
    pattern = re.sub(r"<(\w+)…>", rf"(?P<\1>{wordings.QUOTED}|.+?)", pattern)
    flags = re.IGNORECASE | re.DOTALL
    return _Form(re.compile(pattern, flags), make, literal)


def _unquoted(text: str) -> str:
    text = text.strip() if "\n" not in text else text
    if len(text) > 1 and wordings.QUOTES.get(text[0]) == text[-1]:
        return text[1:-1]
    return text.removeprefix("@") if re.fullmatch(r"@\S+", text) else text


def _plain(kind: Simple) -> Callable[[dict[str, str]], Wish]:
    return lambda _: Plain(kind)


def _all_forms() -> Iterator[_Form]:
    """Order matters: what is narrower comes first."""
    for kind, pattern in wordings.PLAIN:
        yield _form(pattern, _plain(kind))
    for pattern in wordings.RUN:
        yield _form(pattern, lambda m: Run(m["command"]), literal=True)
    for pattern in wordings.CREATE:
        yield _form(pattern, _create, literal=True)
    for pattern in wordings.SWAP:
        yield _form(pattern, _swap)
    for pattern in wordings.FIND:
        yield _form(pattern, _find)
    for pattern in wordings.SEARCH:
        yield _form(pattern, _search)
    for pattern in wordings.LIST:
        yield _form(pattern, lambda m: Listing(m.get("path") or ".", bool(m.get("deep"))))
    for pattern in wordings.DIFF:
        yield _form(pattern, lambda m: Diff(m.get("path", "")))
    for pattern in wordings.DELETE:
        yield _form(pattern, lambda m: Delete(m["path"]))
    for pattern in wordings.SHOW:
        yield _form(pattern, _show)


def _create(found: dict[str, str]) -> Create | None:
    """Only what is called a file or looks like one: "create a site with a menu" is no file."""
    path = found["path"]
    if not found.get("file") and not re.search(r"[./]|^[A-Z]\w+$", path):
        return None
    return Create(path, found.get("content", ""))


def _swap(found: dict[str, str]) -> Swap:
    path = EVERYWHERE if found.get("everywhere") else found.get("path", "")
    return Swap(found["old"], found["new"], path)


def _find(found: dict[str, str]) -> Find | None:
    if kind := found.get("kind", ""):
        known = wordings.KINDS_OF_FILES.get(kind.lower())
        return Find(known) if known else None
    name = found["name"]
    if "/" in name.strip("/") or name.startswith("**"):
        return Find(name)
    return Find(f"**/{name}" if re.search(r"[*?\[{]", name) else f"**/*{name.strip('/')}*")


def _search(found: dict[str, str]) -> Search:
    text, path = found.get("text") or found.get("more", ""), found.get("path") or "."
    if len(text) > 2 and text.startswith("/") and text.endswith("/"):
        return Search(text[1:-1], path, is_regex=True)
    return Search(text, path)


def _show(found: dict[str, str]) -> Show:
    first = int(found["first"]) if found.get("first") else None
    last = int(found["last"]) if found.get("last") else first
    return Show(found["path"], first, last)
