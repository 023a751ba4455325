"""Secrets replaced by a mark before text reaches the model, a log or a transcript."""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Self
from urllib.parse import quote

from agent_cli.safety.assignments import assigned_secrets
from agent_cli.safety.tokens import SHAPES, Shape, looks_secret, words

Span = tuple[int, int, str]

MARK = "«secret»"
_MIN_KNOWN_CHARS = 8
# Passwords nobody keeps secret: hiding them would only garble ordinary output.
_COMMON = words("password postgres changeme disabled required localhost undefined")

# Every search starts at a literal anchor and every run of characters is scanned once, from its
# first character, so the work stays linear for any text.
_TOKEN_CHARACTER = re.compile(r"[A-Za-z0-9_]")
_PEM_START = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_ANCHOR, _PEM_END = "-----BEGIN ", "-----END "
_PEM_END_LINE = re.compile(r"-----END [A-Z0-9 ]{0,60}-----")
_PEM_BODY = re.compile(r"(?:[\s\"'+\\]*+[A-Za-z0-9+/=\\]{16,})*+")
_URL_USERINFO = re.compile(
    r"://(?:[^\s/:@\"'<>`]{0,256}+:(?P<password>[^\s/@\"'<>`]{1,512}+)"
    r"|(?P<user>[A-Za-z0-9_-]{20,512}+))@"
)
_TEMPLATE = re.compile(r"[$%]?[{(\[].*|\$\w+|%[sdr]|\*+|x{3,}|\.{3}|«.*", re.IGNORECASE)
_NO_SECRET = re.compile(r"[.#*=█…]*")
_MAX_HELD_CHARS = 20_000
_PIECE_CHARS = 200_000
_BEARER = re.compile(r"[Bb]earer[ \t]{1,4}(?P<value>[A-Za-z0-9._~+/=-]{16,}+)")


class Redactor:
    """Hides secrets by shape, by the name they are assigned to, and by value.

    `known` maps names to values that are secret whatever they look like.
    """

    def __init__(self, known: Mapping[str, str]) -> None:
        self._known = tuple(_spellings(known))

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        """Knows the values of all variables that look secret."""
        return cls({name: v for name, v in environment.items() if looks_secret(name, v)})

    def redact(self, text: str) -> str:
        """The text with every secret replaced; what is not secret stays as it is."""
        spans = sorted(self._spans(text), key=lambda span: (span[0], -span[1]))
        if not spans:
            return text
        parts: list[str] = []
        done = 0
        for start, end, mark in spans:
            if start >= done:
                parts += text[done:start], mark
            done = max(done, end)
        parts.append(text[done:])
        return "".join(parts)

    def _spans(self, text: str) -> Iterator[Span]:
        for value, mark in self._known:
            yield from ((at, at + len(value), mark) for at in _places(text, value))
        for shape in SHAPES:
            yield from _find_shaped(text, shape)
        yield from _private_keys(text)
        yield from _url_passwords(text)
        yield from _bearers(text)
        yield from ((start, end, MARK) for start, end in assigned_secrets(text))


class RedactedStream:
    """Redacts text that comes in pieces, cut anywhere, and holds back only what may yet turn out
    to be part of a secret: the last word, and a private key that has begun."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact
        self._line = ""
        """The unfinished line, of which some has been given."""
        self._given = 0
        """Characters of the unfinished line, redacted, that were given."""

    def feed(self, text: str) -> str:
        """What can be shown by now."""
        self._line += text
        stable = self._stable()
        told = self._redact(self._line[:stable])
        said = told[self._given :]
        self._given = max(self._given, len(told))
        done = self._line.rfind("\n", 0, stable) + 1
        if done:
            self._given -= told.rfind("\n") + 1
        elif stable > _MAX_HELD_CHARS:  # a line without end is not looked at again and again
            done, self._given = stable, 0
        self._line = self._line[done:]
        return said

    def finish(self) -> str:
        """What was held back."""
        said = self._redact(self._line)[self._given :]
        self._line, self._given = "", 0
        return said

    def _stable(self) -> int:
        """How much of the text cannot change its meaning by what follows."""
        word = "" if self._line[-1:].isspace() else "".join(self._line.rsplit(None, 1)[-1:])
        if len(word) > _MAX_HELD_CHARS or _NO_SECRET.fullmatch(word):
            word = ""
        stable = len(self._line) - len(word)
        begun = self._line.rfind(_PEM_ANCHOR)
        if begun >= 0 and len(self._line) - begun < _MAX_HELD_CHARS:
            end = _PEM_END_LINE.search(self._line, begun)
            if end is None or end.end() > stable:
                return min(begun, stable)
        return stable


def redact_file(path: Path, redact: Callable[[str], str]) -> None:
    """Take the secrets out of a private file; it is replaced in one step."""
    new = path.with_suffix(".clean")
    stream = RedactedStream(redact)
    try:
        with (
            path.open(encoding="utf-8", errors="surrogateescape", newline="") as old,
            os.fdopen(
                os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600),
                "w", encoding="utf-8", errors="surrogateescape", newline="",
            ) as file,
        ):  # fmt: skip
            while piece := old.read(_PIECE_CHARS):
                file.write(stream.feed(piece))
            file.write(stream.finish())
        new.rename(path)
    except OSError:
        new.unlink(missing_ok=True)


def _spellings(known: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each known value as it stands, in JSON and in a URL, with its mark."""
    for name, raw in known.items():
        value = raw.strip()
        if len(value) < _MIN_KNOWN_CHARS or value.lower() in _COMMON:
            continue
        encodable = value.encode("utf-8", "replace").decode()
        for spelling in dict.fromkeys((value, json.dumps(value)[1:-1], quote(encodable, safe=""))):
            yield spelling, f"«secret:{name}»"


def _places(text: str, needle: str) -> Iterator[int]:
    at = text.find(needle)
    while at >= 0:
        yield at
        at = text.find(needle, at + len(needle))


def _find_shaped(text: str, shape: Shape) -> Iterator[Span]:
    done = 0
    for at in _places(text, shape.anchor):
        if at < done or (at and _TOKEN_CHARACTER.match(text, at - 1)):
            continue
        found = shape.pattern.match(text, at)
        if found and _is_varied(found.group()[len(shape.anchor) :]):
            yield at, found.end(), MARK
        if run := shape.run.match(text, at):
            done = run.end()


def _is_varied(body: str) -> bool:
    """Whether this could be random: words and runs of one character are not."""
    return len(set(body)) > 3 and any(c.isdigit() or c.isupper() for c in body)


def _private_keys(text: str) -> Iterator[Span]:
    done, end = 0, -1
    for at in _places(text, _PEM_ANCHOR):
        if at < done or not (start := _PEM_START.match(text, at)):
            continue
        if end < at:
            end = text.find(_PEM_END, at)
            end = len(text) if end < 0 else end
        done = start.end()
        if closing := _PEM_END_LINE.match(text, end):
            done = closing.end()
        elif body := _PEM_BODY.match(text, done):
            done = body.end()
        yield at, done, "«secret:private key»"


def _url_passwords(text: str) -> Iterator[Span]:
    for at in _places(text, "://"):
        if found := _URL_USERINFO.match(text, at):
            group = "password" if found["password"] else "user"
            if not _TEMPLATE.fullmatch(found[group]):
                yield found.start(group), found.end(group), MARK


def _bearers(text: str) -> Iterator[Span]:
    for anchor in ("Bearer ", "bearer ", "Bearer\t"):
        for at in _places(text, anchor):
            if (found := _BEARER.match(text, at)) and _is_varied(found["value"]):
                yield found.start("value"), found.end("value"), MARK
