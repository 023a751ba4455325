"""Names of files and commands, fit to be shown to the user."""

import os
import shlex
from collections.abc import Iterable

from agent_cli.safety.oddities import visible
from agent_cli.safety.paths import Workspace, contains
from agent_cli.safety.sensitive import is_secret
from agent_cli.safety.shell.lenient_words import UNKNOWN
from agent_cli.safety.shell.shell_facts import Destruction

_MAX_NAMES = 5
_MAX_CHARS = 80


def precious_first(paths: Iterable[str], workspace: Workspace) -> tuple[str, ...]:
    """The first few names, those of secret files before the others."""
    unique = dict.fromkeys(paths)
    ordered = sorted(unique, key=lambda path: is_secret(path, workspace.home) is None)
    return tuple(short_path(path, workspace) for path in ordered[:_MAX_NAMES])


def short_path(path: str, workspace: Workspace) -> str:
    """A real path as short as it can be said, on one line, with nothing invisible in it."""
    if contains(workspace.root, path):
        text = os.path.relpath(path, workspace.root)
    elif contains(os.path.realpath(workspace.home), path):
        text = "~/" + os.path.relpath(path, os.path.realpath(workspace.home))
    else:
        text = path
    return _shorten(printable(text))


def command_text(destruction: Destruction) -> str:
    """The command in one line; what is not known in it shows as dots."""
    if destruction.verb in {">", ">>"}:
        words: tuple[str, ...] = (*destruction.argv, destruction.verb, *destruction.paths)
    else:
        words = destruction.argv
    text = " ".join("…" if UNKNOWN in word else _word(word) for word in words)
    return _shorten(printable(text))


def printable(text: str) -> str:
    """Text that any encoder takes and any screen can show."""
    plain = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return visible(plain, one_line=True)


def _word(word: str) -> str:
    return word if word in {">", ">>"} or set(word) & set("*?[") else shlex.quote(word)


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_CHARS else f"{text[:50]}…{text[-29:]}"
