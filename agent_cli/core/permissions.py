"""Whether a call may run: rules, facts and mode in, a decision with its reasons out.

`decide` is pure and is the whole policy. "Allow" is a proof, "deny" is best effort, "ask" is
everything else. The order, first hit wins within a step and the strictest target wins over all:

    1. hard deny: the catastrophic, and our own policy files          (every mode)
    2. deny rules                                                     (every mode)
    3. ask rules                                                      (every mode)
    4. secret, protected or outside the workspace: ask                (not yolo)
    5. allow rules: all targets match and nothing is unresolved
    6. proven to change nothing, in a trusted folder: allow
    7. the mode: plan denies, accept-edits and auto allow edits, auto allows commands that are
       not dangerous inside the sandbox, yolo allows
    8. commands whose every word is known, if dangerous ones need no question (dangerous_cmd)
    9. ask
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Literal

from agent_cli.core.errors import UserError
from agent_cli.core.tool import ToolKind
from agent_cli.lib.language import tr
from agent_cli.safety.shell.facts import Destruction


class Mode(StrEnum):
    """How much happens without a question."""

    DEFAULT = "default"
    ACCEPT_EDITS = "accept-edits"
    PLAN = "plan"
    AUTO = "auto"
    YOLO = "yolo"


class Effect(StrEnum):
    """What becomes of a call."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True)
class Decision:
    """An effect and why, in words for a person and the model."""

    effect: Effect
    reasons: tuple[str, ...]
    rule: str | None = None
    """The rule that decided, if one did."""
    confined: bool = False
    """It may run, but only inside the sandbox."""


@dataclass(frozen=True)
class PathFact:
    """A path a call touches, resolved."""

    typed: str
    real: str
    access: Literal["read", "write"]
    outside: bool = False
    secret: str | None = None
    """Why its content is secret."""
    protected: str | None = None
    """Why changing it is special."""
    forbidden: str | None = None
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
    sensitive: tuple[str, ...] = ()
    """Secret, protected or outside places a command touches, in words."""
    unproven: tuple[str, ...] = ()
    """Why it is not proven to change nothing."""
    unresolved: bool = False
    """Something in it could not be read for certain: then no allow rule can match."""
    dangers: tuple[str, ...] = ()
    only_by_name: bool = False
    """The tool itself calls it dangerous: only a rule for the whole tool lets it through."""
    catastrophic: tuple[str, ...] = ()
    destroys: tuple[Destruction, ...] = ()
    """What can be counted for the person who is asked."""
    touches_network: bool = False
    in_shell: bool = True
    """Its commands run in our shell, where a sandbox can hold them."""


@dataclass(frozen=True)
class Rule:
    """`Tool` or `Tool(pattern)`: what it matches depends on what the tool touches.

    Bash(git log *)         the words of one simple command; a last `*` is any rest
    Read(src/**)            a path, relative to the workspace, absolute or under ~
    WebFetch(domain:host)   a host, or *.host
    mcp__server__*          a tool by name
    """

    tool: str
    pattern: str | None
    text: str

    @classmethod
    def parse(cls, text: str) -> Rule:
        """Read a rule; a broken one is the person's to mend."""
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
    """The rules of a session, from the configuration, the command line and the person's answers."""

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
class Place:
    """Where relative rule patterns start."""

    root: str
    home: str


def decide(
    facts: Facts,
    rules: Rules,
    mode: Mode,
    place: Place,
    *,
    trusted: bool,
    ask_dangerous: bool = True,
    confines: bool = False,
) -> Decision:
    """The decision about a call. See the module's docstring for the order."""
    if never := _never(facts):
        return Decision(Effect.DENY, never)
    if rule := _first(rules.deny, facts, place):
        return Decision(Effect.DENY, (tr("the rule {rule} denies it", rule=rule.text),), rule.text)
    if rule := _first(rules.ask, facts, place):
        return Decision(Effect.ASK, (tr("the rule {rule} asks", rule=rule.text),), rule.text)
    if mode is Mode.YOLO:
        return Decision(Effect.ALLOW, (tr("the mode is yolo"),))
    if mode is Mode.PLAN and facts.kind is not ToolKind.READONLY and facts.unproven:
        return Decision(
            Effect.DENY, (tr("the mode is plan: only what changes nothing is allowed"),)
        )
    allowed = _all_allowed(facts, rules.allow, place)
    if sensitive := _sensitive(facts, lifted=allowed is not None):
        return Decision(Effect.ASK, sensitive)
    if allowed is not None:
        return Decision(
            Effect.ALLOW, (tr("the rule {rule} allows it", rule=allowed.text),), allowed.text
        )
    if not facts.unproven and not facts.needs_permission:
        if trusted or facts.kind is ToolKind.READONLY:
            return Decision(Effect.ALLOW, (tr("it changes nothing"),))
        return Decision(Effect.ASK, (tr("the folder is not trusted"),))
    if mode in (Mode.ACCEPT_EDITS, Mode.AUTO) and _edits_files(facts) and trusted:
        return Decision(Effect.ALLOW, (tr("the mode accepts edits"),))
    if mode is Mode.AUTO and confines and trusted and _may_run_confined(facts):
        return Decision(Effect.ALLOW, (tr("it runs in the sandbox"),), confined=True)
    if not ask_dangerous and _is_known_command(facts) and trusted:
        return Decision(Effect.ALLOW, (tr("dangerous_cmd is off"),))
    return Decision(Effect.ASK, facts.dangers + facts.unproven or (tr("it is not read-only"),))


def _edits_files(facts: Facts) -> bool:
    """Only what names the files it writes makes edits that a mode could accept."""
    return facts.kind is ToolKind.WRITE and _names_written(facts) and not facts.only_by_name


def _names_written(facts: Facts) -> bool:
    return any(path.access == "write" for path in facts.paths)


def _may_run_confined(facts: Facts) -> bool:
    """A command that is not dangerous, and not bound to fail where there is no network."""
    is_command = facts.in_shell and bool(facts.commands)
    return is_command and not facts.dangers and not facts.touches_network


def _is_known_command(facts: Facts) -> bool:
    return facts.in_shell and bool(facts.commands) and not facts.unresolved


def matches(rule: Rule, effect: Effect, facts: Facts, place: Place) -> bool:
    """Whether the rule speaks of the call: an allow rule of all it touches, others of any of it."""
    if effect is Effect.ALLOW:
        return _all_allowed(facts, (rule,), place) is not None
    return _touches(rule, facts, place)


def _never(facts: Facts) -> tuple[str, ...]:
    return facts.catastrophic + tuple(
        tr("{name}: {why}", name=path.typed, why=path.forbidden)
        for path in facts.paths
        if path.forbidden
    )


def _sensitive(facts: Facts, *, lifted: bool) -> tuple[str, ...]:
    """Why a path wants a question; a matching allow rule lifts "outside", never the others."""
    reasons = list(facts.sensitive)
    for path in facts.paths:
        if path.secret:
            reasons.append(tr("{path} may hold secrets ({why})", path=path.typed, why=path.secret))
        if path.access == "write" and path.protected:
            reasons.append(tr("{path} is protected ({why})", path=path.typed, why=path.protected))
        if path.outside and not lifted:
            reasons.append(tr("{path} is outside the workspace", path=path.real))
    return tuple(reasons)


def _first(rules: Iterable[Rule], facts: Facts, place: Place) -> Rule | None:
    """The first rule that matches anything the call touches: how deny and ask rules match."""
    return next((rule for rule in rules if _touches(rule, facts, place)), None)


def _touches(rule: Rule, facts: Facts, place: Place) -> bool:
    if rule.pattern is None:
        return _names(rule, facts)
    if any(
        _path_matches(rule.pattern, spelled, place)
        for path in facts.paths
        if _covers(rule, facts, path)
        for spelled in (path.real, path.typed)
    ):
        return True
    if not _names(rule, facts):
        return False
    return any(
        _words_match(rule, command.argv) or _words_match(rule, _without_directory(command.argv))
        for command in facts.commands
        if command.argv
    ) or any(_host_matches(rule.pattern, host) for host in facts.hosts)


def _without_directory(argv: tuple[str, ...]) -> tuple[str, ...]:
    return (PurePosixPath(argv[0]).name, *argv[1:])


def _all_allowed(facts: Facts, rules: Iterable[Rule], place: Place) -> Rule | None:
    """A rule, if all that the call touches is matched by allow rules: how those match."""
    own = [rule for rule in rules if _names(rule, facts) or _covers_files(rule, facts)]
    if facts.unresolved:
        return None
    bare = next((rule for rule in own if rule.pattern is None), None)
    if bare is not None or facts.only_by_name:
        return bare
    if facts.commands:
        matched = _rules_for_commands(facts.commands, own)
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


def _rules_for_commands(commands: Iterable[CommandFact], own: list[Rule]) -> list[Rule | None]:
    """A rule, or None, for each command that is not proven harmless by itself."""
    return [
        next((rule for rule in own if command.is_known and _words_match(rule, command.argv)), None)
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
    if facts.kind is ToolKind.WRITE and not _names_written(facts):
        return False
    return bool(facts.paths) and all(_covers(rule, facts, path) for path in facts.paths)


def _words_match(rule: Rule, argv: tuple[str, ...]) -> bool:
    if rule.pattern is None:
        return False
    words = _command_words(rule.text, rule.pattern)
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


def _path_matches(pattern: str, path: str, place: Place) -> bool:
    return _path_pattern(pattern, place)(path)


@lru_cache(maxsize=1024)
def _path_pattern(pattern: str, place: Place) -> Callable[[str], bool]:
    """`*` stays within a name, `**` crosses directories, a final `/` is the whole tree."""
    if pattern.startswith("~/"):
        whole = f"{place.home}/{pattern[2:]}"
    elif pattern.startswith("/"):
        whole = pattern
    else:
        whole = f"{place.root.rstrip('/')}/{pattern.removeprefix('./')}"
    if whole.endswith("/"):
        whole += "**"
    parts = re.split(r"(\*\*/|/\*\*$|\*|\?)", whole)
    translated = {"**/": "(?:.*/)?", "/**": "(?:/.*)?", "*": "[^/]*", "?": "[^/]"}
    regex = re.compile("".join(translated.get(part, re.escape(part)) for part in parts), re.DOTALL)
    return lambda path: regex.fullmatch(path) is not None


@dataclass
class Policy:
    """What applies in a session right now."""

    place: Place
    rules: Rules = Rules()
    mode: Mode = Mode.DEFAULT
    trusted: bool = False
    ask_dangerous: bool = True
    """Whether dangerous commands need a question; the catastrophic are denied in any case."""
    confines: bool = False
    """Whether there is a sandbox to run commands in."""
    sender: Policy | None = None
    """The policy of whoever sent this agent: its rules apply here as they are at each decision."""
    own_mode: Mode | None = None
    """With a sender: the agent's own mode, which counts where it is the stricter one."""

    def decide(self, facts: Facts) -> Decision:
        """The decision about a call, by what applies now."""
        self.follow()
        return self._decide(facts, self.rules)

    def would_allow(self, facts: Facts, rule: str) -> bool:
        """Whether the call would run unasked if this rule were there."""
        rules = self.rules + Rules(allow=(Rule.parse(rule),))
        return self._decide(facts, rules).effect is Effect.ALLOW

    def _decide(self, facts: Facts, rules: Rules) -> Decision:
        return decide(
            facts,
            rules,
            self.mode,
            self.place,
            trusted=self.trusted,
            ask_dangerous=self.ask_dangerous,
            confines=self.confines,
        )

    def learn(self, rule: str) -> None:
        """Allow for the rest of the session what the person said yes to for good."""
        if self.sender is None:
            self.rules += Rules(allow=(Rule.parse(rule),))
        else:
            self.sender.learn(rule)
            self.follow()

    def follow(self) -> None:
        """Take over what has changed at the sender's."""
        if self.sender is not None:
            self.sender.follow()
            self.rules = self.sender.rules
            self.mode = stricter(self.sender.mode, self.own_mode)


STRICTNESS = (Mode.PLAN, Mode.DEFAULT, Mode.ACCEPT_EDITS, Mode.AUTO, Mode.YOLO)


def stricter(one: Mode, other: Mode | None) -> Mode:
    """Of two modes, the one in which less happens without a question."""
    return one if other is None else min(one, other, key=STRICTNESS.index)
