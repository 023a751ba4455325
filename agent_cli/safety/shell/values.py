"""What variables, loops and the output of commands stand for, as far as that can be told."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent_cli.safety.name_sets import names
from agent_cli.safety.reasons import because
from agent_cli.safety.shell.globs import literal
from agent_cli.safety.shell.shell_facts import ShellContext, absolute
from agent_cli.safety.shell.words import UNKNOWN, NotPlain, Value, Word

if TYPE_CHECKING:
    from agent_cli.safety.shell.prove import Prover

MAX_ROUNDS = 20
_PLAIN = re.compile(r"[A-Za-z0-9_./:@%+,=-]+")
# Neither secret nor known: they may be printed, and nothing else may depend on them.
SHOWABLE = names("USER LOGNAME SHELL LANG HOSTNAME OLDPWD PATH UID EUID RANDOM SECONDS TERM TMPDIR")
# Known to be a number.
NUMBERS = names("? #")


def is_loop_name(name: str) -> bool:
    """Whether a variable of this name steers neither the shell nor a program."""
    if re.search(r"proxy|config|npm|histchars", name):
        return False
    return re.fullmatch(r"[a-z][a-z0-9_]{0,15}", name) is not None


class Expansions:
    """The values of expansions at one place of a command line."""

    def __init__(self, prover: Prover, where: frozenset[str], level: int) -> None:
        self._prover = prover
        self._where = where
        self._level = level
        self.used = False

    def variable(self, name: str) -> Value:
        """The value of a variable; NotPlain for one that could hold anything, secrets too."""
        self.used = True
        bound = self._prover.variables.get(name)
        if bound is not None:
            return bound
        if name == "HOME":
            return Value(self._prover.place.home)
        if name == "PWD" and (directory := self._directory()):
            return Value(directory)
        if name in NUMBERS:
            return Value(is_plain=True)
        if name in SHOWABLE or name == "PWD":
            self._prover.doubt(because("only_confined", name=f"${name}"))
            return Value()
        raise NotPlain(because("runtime_value"))

    def output(self, script: str) -> Value:
        """What a command prints, after its commands are proven like any others."""
        self.used = True
        self._prover.substitution(script, self._where, self._level)
        if script.strip() == "pwd" and (directory := self._directory()):
            return Value(directory)
        self._prover.doubt(because("only_confined", name="$(…)"))
        return Value()

    def _directory(self) -> str | None:
        """Where the shell stands, if it can stand in one place only."""
        return next(iter(self._where)) if len(self._where) == 1 else None


def bind_values(words: Iterable[Word], place: ShellContext, where: list[str]) -> list[Value]:
    """The values that a loop over these words gives its variable, one by one; or one for all."""
    values = [_value(word, place, where) for word in words]
    return values if len(values) <= MAX_ROUNDS else [Value()]


def _value(word: Word, place: ShellContext, where: list[str]) -> Value:
    if word.pattern is None:
        return Value(UNKNOWN if word.splits else word.text)
    matches = [place.expand(absolute(word.pattern, literal(cwd))) for cwd in where]
    plain = all(
        found is not None and all(_PLAIN.fullmatch(path) for path in found) for found in matches
    )
    return Value(word.text, word.pattern, is_plain=plain)
