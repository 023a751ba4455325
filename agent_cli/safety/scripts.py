"""Files of a folder that a command line makes run: scripts, modules, what build tools read."""

# Paths are handled as text: pathlib would drop or merge parts.
# ruff: noqa: PTH112, PTH113, PTH118, PTH119, PTH122, PTH123, PTH207

import glob
import hashlib
import os
import re
import shlex
from collections.abc import Iterator, Sequence

from agent_cli.safety.paths import contains
from agent_cli.safety.tokens import words

MAX_FILES = 500
MAX_BYTES = 10_000_000
"""Of one file that is read to tell whether it changed."""
_SUFFIXES = words("""
    .sh .bash .zsh .fish .ksh .py .pyw .pyz .js .mjs .cjs .ts .mts .cts .jsx .tsx .rb .pl .pm .php
    .lua .tcl .r .ps1 .jar .awk .sed .mk .exs .go .groovy .kts .nix .jq .wasm
""")
_ENTRIES = ("__main__.py", "__init__.py", "index.js", "index.mjs", "index.cjs", "index.ts")
_READ_BY = {
    "make": "Makefile makefile GNUmakefile",
    "gmake": "Makefile makefile GNUmakefile",
    "just": "justfile Justfile .justfile",
    "task": "Taskfile.yml Taskfile.yaml",
    "rake": "Rakefile",
    "cargo": "Cargo.toml build.rs",
    "composer": "composer.json",
    "pre-commit": ".pre-commit-config.yaml",
    **dict.fromkeys(("npm", "npx", "pnpm", "yarn", "bun", "node"), "package.json"),
    **dict.fromkeys(("uv", "poetry", "pdm", "hatch", "tox", "nox"), "pyproject.toml tox.ini"),
    **dict.fromkeys(("gradle", "gradlew"), "build.gradle build.gradle.kts settings.gradle"),
    **dict.fromkeys(("mvn", "mvnw"), "pom.xml"),
    **dict.fromkeys(("deno",), "deno.json deno.jsonc"),
}
_PIECE = re.compile(r"[^\s\"'`;|&<>(){}$=,:]+")
_MODULE = re.compile(r"-m[\s\"']+([A-Za-z_][\w.]*)")


def named_scripts(command: str, root: str, directory: str | None = None) -> tuple[str, ...]:
    """The files below `root` that this command line would run, in a fixed order.

    What those files load in turn is not looked for.
    """
    pieces = dict.fromkeys((*_PIECE.findall(command), *_words(command)))
    places = [directory or root]
    places += [path for path in _existing(pieces, places) if os.path.isdir(path)][:20]
    found: dict[str, None] = {}
    for path in (*_existing(pieces, places), *_modules(command, places), *_read(pieces, places)):
        inside = contains(root, os.path.normpath(path)) or contains(root, os.path.realpath(path))
        if inside and is_script(path):
            found[os.path.normpath(path)] = None
    return tuple(sorted(found))[:MAX_FILES]


def is_script(path: str) -> bool:
    """Whether a file is made to be run, by its name, its mode or its first bytes."""
    if not os.path.isfile(path):
        return False
    name = os.path.basename(path)
    if os.path.splitext(name)[1].lower() in _SUFFIXES or os.access(path, os.X_OK):
        return True
    if any(name in names.split() for names in _READ_BY.values()):
        return True
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def digest(path: str) -> str:
    """What tells one state of such a file from another: where it leads, and what is there."""
    try:
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES)
            status = os.fstat(file.fileno())
    except OSError as error:
        return type(error).__name__
    rest = f"{status.st_size} {status.st_mtime_ns}" if status.st_size > MAX_BYTES else ""
    where = os.fsencode(os.path.realpath(path))
    return hashlib.sha256(b"\0".join((where, rest.encode(), content))).hexdigest()


def _words(command: str) -> Iterator[str]:
    """The words as a shell would split them: a name may have blanks in it."""
    try:
        yield from shlex.split(command)
    except ValueError:
        return


def _existing(pieces: Sequence[str] | dict[str, None], places: Sequence[str]) -> Iterator[str]:
    """What the pieces name, seen from each place; a variable may stand for what comes before."""
    for piece in pieces:
        parts = piece.split("/")
        for start in range(min(len(parts), 12)):
            rest = "/".join(parts[start:])
            for place in places:
                yield from _at(os.path.join(place, rest)) if rest else ()


def _at(path: str) -> Iterator[str]:
    """What is at a path or matches it; of a directory also what would run if it were run."""
    for found in glob.glob(path)[:MAX_FILES] if glob.has_magic(path) else (path,):
        if os.path.isdir(found):
            yield from (os.path.join(found, name) for name in _ENTRIES)
        if os.path.lexists(found):
            yield found


def _modules(command: str, places: Sequence[str]) -> Iterator[str]:
    for name in _MODULE.findall(command):
        parts = name.split(".")
        for place in places:
            yield os.path.join(place, *parts) + ".py"
            for count in range(1, len(parts) + 1):  # a package's parents are loaded first
                yield from (os.path.join(place, *parts[:count], entry) for entry in _ENTRIES)


def _read(pieces: dict[str, None], places: Sequence[str]) -> Iterator[str]:
    for piece in pieces:
        for name in _READ_BY.get(os.path.basename(piece), "").split():
            yield from (os.path.join(place, name) for place in places)
