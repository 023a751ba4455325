"""What is known of a call, and which permission rules match it.

A deny or ask rule has to match anything the call touches; allow rules, all of it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Literal

from agent_cli.core.errors import UserError
from agent_cli.core.tool import ToolKind
from agent_cli.lib.language import tr
from agent_cli.safety.reasons import Reason
from agent_cli.safety.sensitive import is_secret
from agent_cli.safety.shell import REST, matches_rest
from agent_cli.safety.shell.shell_facts import Destruction


@dataclass(frozen=True)
class PathFact:
    """A path a call touches, resolved."""

    typed: str
    real: str
    access: Literal["read", "write"]
    outside: bool = False
    secret: Reason | None = None
    """Why its content is secret."""
    protected: Reason | None = None
    """Why changing it is special."""
    forbidden: Reason | None = None
    """Why it may never be touched."""
    lexical: str = ""
    """As typed but absolute, links not followed; empty when `typed` is."""


@dataclass(frozen=True)
class CommandFact:
    """One simple command; a wrapped one (env, timeout, bash -c …) is there once per level."""

    argv: tuple[str, ...]
    is_proven: bool = False
    """It is known to change nothing."""
    is_known: bool = True
    """Every word of it is known exactly."""
    text: str = ""
    """As it is written."""
    level: int = 0
    """How many wrappers stand around it."""


@dataclass(frozen=True)
class Facts:
    """What is known of a call before it runs."""

    tool: str
    kind: ToolKind
    needs_permission: bool
    paths: tuple[PathFact, ...] = ()
    commands: tuple[CommandFact, ...] = ()
    hosts: tuple[str, ...] = ()
    sensitive: tuple[Reason, ...] = ()
    """Secret, protected or outside places a command touches."""
    unproven: tuple[Reason, ...] = ()
    """Why it is not proven to change nothing."""
    needs_sandbox: tuple[Reason, ...] = ()
    """Why it is proven only where it runs in a read-only sandbox."""
    trees: tuple[str, ...] = ()
    """Directories of which it may read all files."""
    unlisted: tuple[str, ...] = ()
    """Those of them that are too large to tell whether a rule matches a file there."""
    unresolved: bool = False
    """Something in it could not be read for certain: then no allow rule can match."""
    dangers: tuple[Reason, ...] = ()
    only_by_name: bool = False
    """The tool itself calls it dangerous: only a rule for the whole tool lets it through."""
    catastrophic: tuple[Reason, ...] = ()
    destroys: tuple[Destruction, ...] = ()
    """What can be counted before the question."""
    touches_network: bool = False
    in_shell: bool = True
    """Its commands run in our shell, where a sandbox can hold them."""


@dataclass(frozen=True)
class Rule:
    """`Tool` or `Tool(pattern)`: what it matches depends on what the tool touches.

    Bash(git log *)         the words of one simple command; a last `*` is any rest, a last `./**`
                            files of the workspace and options known to be harmless
    Read(src/**)            a path, relative to the workspace, absolute or under ~
    WebFetch(domain:host)   a host, or *.host
    mcp__server__*          a tool by name
    """

    tool: str
    pattern: str | None
    text: str

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Read a rule; raises UserError."""
        found = re.fullmatch(r"([A-Za-z_][\w*-]*)(?:\((.+)\))?", text.strip(), re.DOTALL)
        if found is None:
            raise UserError(
                tr("{text!r} is not a permission rule.", text=text),
                hint=tr("Write Tool or Tool(pattern), such as Bash(git log *) or Edit(docs/**)."),
            )
        tool, pattern = found[1], found[2]
        if tool == "Bash" and pattern is not None:
            _command_words(text, pattern)
        return cls(tool, pattern, text.strip())


@dataclass(frozen=True)
class Rules:
    """The rules of a session, from the configuration, the command line and the user's answers."""

    allow: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()

    @classmethod
    def parse(
        cls, allow: Iterable[str] = (), ask: Iterable[str] = (), deny: Iterable[str] = ()
    ) -> Rules:
        """Read rules from text."""
        return cls(*(tuple(Rule.parse(text) for text in texts) for texts in (allow, ask, deny)))

    def __add__(self, other: Rules) -> Rules:
        return Rules(self.allow + other.allow, self.ask + other.ask, self.deny + other.deny)


@dataclass(frozen=True)
class PatternBase:
    """Where relative rule patterns start."""

    root: str
    home: str


def first_match(rules: Iterable[Rule], facts: Facts, place: PatternBase) -> Rule | None:
    """The first rule that matches anything the call touches: how deny and ask rules match."""
    return next((rule for rule in rules if touches(rule, facts, place)), None)


def touches(rule: Rule, facts: Facts, place: PatternBase) -> bool:
    """Whether the rule matches anything the call touches."""
    if rule.pattern is None:
        return _names(rule, facts)
    if any(
        _path_matches(rule.pattern, spelled, place)
        for path in facts.paths
        if _covers(rule, facts, path)
        for spelled in (path.real, path.typed)
    ):
        return True
    if rule.tool == "Read" and any(
        _may_lie_below(rule.pattern, tree, place) for tree in facts.unlisted
    ):
        return True
    if not _names(rule, facts):
        return False
    return any(
        _words_match(rule, command.argv, place)
        or _words_match(rule, _without_directory(command.argv), place)
        for command in facts.commands
        if command.argv
    ) or any(_host_matches(rule.pattern, host) for host in facts.hosts)


def ruled_out(
    rules: Rules, place: PatternBase, tool: str = "Read", *, secret_too: bool = True
) -> tuple[Callable[[str], bool], ...]:
    """For each deny and ask rule about paths that are read: whether it matches one.

    Without `secret_too` those are left out that speak of secret files, which no sandbox shows.
    """
    return tuple(
        _path_pattern(rule.pattern, place)
        for rule in (*rules.deny, *rules.ask)
        if rule.pattern is not None and rule.tool in ("Read", tool)
        if secret_too or is_secret(_whole(rule.pattern, place), place.home) is None
    )


def _may_lie_below(pattern: str, tree: str, place: PatternBase) -> bool:
    """Whether a pattern could match something in a directory."""
    fixed = re.split(r"[^/]*[*?]", _whole(pattern, place))[0].rstrip("/")
    return any(
        each == one or each.startswith(f"{one.rstrip('/')}/")
        for each, one in ((fixed, tree), (tree, fixed))
    )


def _without_directory(argv: tuple[str, ...]) -> tuple[str, ...]:
    return (PurePosixPath(argv[0]).name, *argv[1:])


def all_allowed(facts: Facts, rules: Iterable[Rule], place: PatternBase) -> Rule | None:
    """A rule, if all that the call touches is matched by allow rules: how those match."""
    own = [rule for rule in rules if _names(rule, facts) or _covers_files(rule, facts)]
    if facts.unresolved:
        return None
    bare = next((rule for rule in own if rule.pattern is None), None)
    if bare is not None or facts.only_by_name:
        return bare
    if facts.commands:
        matched = _rules_for_commands(facts.commands, own, place)
    else:
        matched = [
            next((r for r in own if r.pattern and _path_matches(r.pattern, path.real, place)), None)
            for path in facts.paths
        ]
    named = [rule for rule in own if _names(rule, facts)]
    matched += [
        next((r for r in named if r.pattern and _host_matches(r.pattern, host)), None)
        for host in facts.hosts
    ]
    return matched[0] if matched and all(matched) else None


def _rules_for_commands(
    commands: Iterable[CommandFact], own: list[Rule], place: PatternBase
) -> list[Rule | None]:
    """A rule, or None, for each command that is not proven harmless by itself."""
    return [
        next((r for r in own if command.is_known and _words_match(r, command.argv, place)), None)
        for command in commands
        if not command.is_proven
    ]


def _names(rule: Rule, facts: Facts) -> bool:
    return rule.tool == facts.tool or ("*" in rule.tool and fnmatchcase(facts.tool, rule.tool))


def _covers(rule: Rule, facts: Facts, path: PathFact) -> bool:
    """`Read(…)` speaks of every read of a path and `Edit(…)` of every write, by whatever tool."""
    return _names(rule, facts) or rule.tool == ("Read" if path.access == "read" else "Edit")


def _covers_files(rule: Rule, facts: Facts) -> bool:
    if rule.pattern is None or facts.commands or facts.kind is ToolKind.EXECUTE:
        return False
    if facts.kind is ToolKind.WRITE and not names_written(facts):
        return False
    return bool(facts.paths) and all(_covers(rule, facts, path) for path in facts.paths)


def _words_match(rule: Rule, argv: tuple[str, ...], place: PatternBase) -> bool:
    if rule.pattern is None:
        return False
    words = _command_words(rule.text, rule.pattern)
    if words and words[-1] == REST:
        return matches_rest(words, argv, place.home, place.root)
    if words and words[-1] == "*":
        return argv[: len(words) - 1] == words[:-1]
    return argv == words


@lru_cache(maxsize=1024)
def _command_words(rule: str, pattern: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(pattern))
    except ValueError as error:
        raise UserError(
            tr("The rule {rule} cannot be read: {error}.", rule=rule, error=error)
        ) from error
    if not words or "*" in words[0]:
        raise UserError(
            tr("The rule {rule} does not name a program.", rule=rule),
            hint=tr("The first word must be a program's name: Bash(npm run test *)."),
        )
    return words


def _host_matches(pattern: str, host: str) -> bool:
    wanted = pattern.removeprefix("domain:").lower()
    if wanted.startswith("*."):
        return host.lower().endswith(wanted[1:])
    return host.lower() == wanted


def _path_matches(pattern: str, path: str, place: PatternBase) -> bool:
    return _path_pattern(pattern, place)(path)


def _whole(pattern: str, place: PatternBase) -> str:
    """The pattern as an absolute one."""
    if pattern.startswith("~/"):
        whole = f"{place.home}/{pattern[2:]}"
    elif pattern.startswith("/"):
        whole = pattern
    else:
        whole = f"{place.root.rstrip('/')}/{pattern.removeprefix('./')}"
    return f"{whole}**" if whole.endswith("/") else whole


@lru_cache(maxsize=1024)
def _path_pattern(pattern: str, place: PatternBase) -> Callable[[str], bool]:
    """`*` stays within a name, `**` crosses directories, a final `/` is the whole tree."""
    whole = _whole(pattern, place)
    parts = re.split(r"(\*\*/|/\*\*$|\*|\?)", whole)
    translated = {"**/": "(?:.*/)?", "/**": "(?:/.*)?", "*": "[^/]*", "?": "[^/]"}
    regex = re.compile("".join(translated.get(part, re.escape(part)) for part in parts), re.DOTALL)
    return lambda path: regex.fullmatch(path) is not None


def names_written(facts: Facts) -> bool:
    """Whether the call names a file it writes."""
    return any(path.access == "write" for path in facts.paths)
