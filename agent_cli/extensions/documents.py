"""Markdown with front matter: what commands and skills are written in."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agent_cli.lib.files import open_regular
from agent_cli.lib.language import tr
from agent_cli.safety.redact import Redactor
from agent_cli.safety.sanitise import clean, for_model, visible

MAX_BYTES = 200_000
"""Bytes of one file."""
_HEAD = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_FACT = re.compile(r"([A-Za-z][\w-]*):(.*)")
_REDACTOR = Redactor({})
_BLOCK = re.compile(r"[>|][+-]?")


Complain = Callable[[str, str], None]
"""Tells the user what is wrong, and what to do."""


@dataclass(frozen=True)
class Folder:
    """A folder of the user's own, or of a project they trust."""

    path: Path
    kind: Literal["user", "project"]

    @property
    def is_users(self) -> bool:
        """Whether it is the user's: they may link files into it."""
        return self.kind == "user"


class BadDocument(Exception):
    """A file that cannot be used; the text says why."""


@dataclass(frozen=True)
class Document:
    """A file: what its front matter says, and the rest."""

    path: Path
    facts: Mapping[str, str]
    body: str

    def fact(self, name: str, longest: int) -> str:
        """One value as a short line that is fit for a screen; empty: it is not there."""
        line = visible(self.facts.get(name, ""), one_line=True).strip()
        return line if len(line) <= longest else f"{line[: longest - 1]}…"


def read_document(path: Path, *, follow: bool = False) -> Document:
    """Read a file; links only with `follow`. Raises BadDocument."""
    try:
        with os.fdopen(open_regular(path.resolve() if follow else path), "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, RuntimeError) as error:
        raise BadDocument(f"{path}: {error}") from error
    if len(data) > MAX_BYTES:
        raise BadDocument(tr("{path}: larger than {most:,} bytes", path=path, most=MAX_BYTES))
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    head = _HEAD.match(text)
    facts = front_matter(_REDACTOR.redact(clean(head[1]))) if head is not None else {}
    body = for_model(text[head.end() :] if head is not None else text)[0]
    # It enters a prompt as a result would: without anything that looks like a key.
    return Document(path, facts, _REDACTOR.redact(body.strip()))


def front_matter(text: str) -> dict[str, str]:
    """The plain values of a head: `name: value`, quoted or folded over indented lines.

    It is a small part of YAML, which is all that commands and skills use; the rest is left out.
    """
    facts: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.split("\n"):
        if (found := _FACT.fullmatch(line)) is not None:
            first = found[2].strip()
            lines = facts.setdefault(found[1].lower(), [])
            lines[:] = [] if _BLOCK.fullmatch(first) else [first]
        elif line[:1] in (" ", "\t") and line.strip():
            lines.append(line.strip())
    return {name: _unquote(" ".join(filter(None, parts))) for name, parts in facts.items()}


def _unquote(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1].replace('\\"', '"').replace("''", "'")
    return value
