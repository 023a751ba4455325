"""The tables of commands that only read, loaded from their TOML files."""

import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, TypeAlias

Raw: TypeAlias = dict[str, str | int | bool]
Toml: TypeAlias = dict[str, Raw]


@dataclass(frozen=True)
class Spec:
    """What one command may be given and still only read; see read_only.toml."""

    options: dict[str, str] = field(default_factory=dict)
    """Option → kind: "" flag, "=" value, "=path" file to read, "=glob" names to search, "?"
    attached, "?next" either."""
    operands: str = "none"
    patterns: frozenset[str] = frozenset()
    most: int | None = None
    least: int = 0
    metadata: bool = False
    glob: bool = False
    digits: bool = False
    detached: bool = False
    builtin: bool = False
    check: str = ""
    listing: frozenset[str] = frozenset()
    recurses: str = ""
    """Options that make it read directories with all below them, or "always"."""
    names_only: frozenset[str] = frozenset()
    """Options that make it tell names and no content."""
    confined: bool = False
    """Harmless only in a sandbox."""


@cache
def commands() -> dict[str, Spec]:
    """Name → what it may be given."""
    raw = _load("read_only.toml")
    for other in ("versions", "version_spellings", "version_choosers", "starts"):
        raw.pop(other)
    return {name: _spec(_alias(raw, name)) for name in raw}


def only_reads(name: str) -> bool:
    """Whether a program is one that needs no sandbox to be let through."""
    return name in commands() and not commands()[name].confined


@cache
def versions() -> dict[str, frozenset[str]]:
    """Program → the lone arguments that make it print its version."""
    raw = _load("read_only.toml")
    common = str(raw["versions"]["arguments"])
    other = raw["version_spellings"]
    return {
        name: frozenset(f"{common} {other.get(name, '')}".split())
        for name in str(raw["versions"]["programs"]).split()
    }


@cache
def version_choosers() -> dict[str, tuple[str, ...]]:
    """Program → files that choose, from the directory or above it, which program answers."""
    raw = _load("read_only.toml")["version_choosers"]
    return {name: tuple(str(files).split()) for name, files in raw.items()}


@cache
def starts() -> dict[str, tuple[str, ...]]:
    """Program → others that it starts by their names."""
    raw = _load("read_only.toml")["starts"]
    return {name: tuple(str(others).split()) for name, others in raw.items()}


@cache
def git_commands() -> dict[str, Spec]:
    """Subcommand, or two words for a subcommand of a subcommand → what it may be given."""
    raw = _load("read_only_git.toml")
    families = {name: str(options) for name, options in raw.pop("families").items()}
    specs = {}
    for name, entry in raw.items():
        shared = " ".join(families[family] for family in str(entry.get("families", "")).split())
        specs[name] = _spec({**entry, "options": f"{shared} {entry.get('options', '')}"})
    return specs


def _load(name: str) -> Toml:
    text = resources.files(__package__).joinpath(name).read_text("utf-8")
    return tomllib.loads(text)


def _alias(raw: Toml, name: str) -> Raw:
    entry = raw[name]
    return raw[str(entry["same_as"])] if "same_as" in entry else entry


def _spec(entry: Raw) -> Spec:
    given: dict[str, Any] = {name: value for name, value in entry.items() if name != "families"}
    given["options"] = _options(str(entry.get("options", "")))
    for name in ("patterns", "listing", "names_only"):
        given[name] = frozenset(str(entry.get(name, "")).split())
    return Spec(**given)


def _options(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for token in text.split():
        cut = next((i for i, char in enumerate(token) if char in "=?"), len(token))
        name, kind = token[:cut], token[cut:]
        if name.startswith("--"):
            found[name] = kind
        else:
            found.update((f"-{letter}", kind) for letter in name[1:])
    return found
