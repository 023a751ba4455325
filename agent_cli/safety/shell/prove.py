"""Prove that a plain command line only reads, or say why it is not proven."""

import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from agent_cli.safety.reasons import Reason, because
from agent_cli.safety.sensitive import is_secret
from agent_cli.safety.shell import checks, special, table
from agent_cli.safety.shell.globs import may_match_parent, may_match_secret
from agent_cli.safety.shell.lexer import tokenize
from agent_cli.safety.shell.options import Refused, read
from agent_cli.safety.shell.shell_facts import (
    ShellContext,
    SimpleCommand,
    absolute,
    inside,
    lexical,
)
from agent_cli.safety.shell.syntax import (
    Chain,
    Group,
    If,
    Node,
    Pipeline,
    Redirect,
    Sequence,
    Simple,
    parse,
)
from agent_cli.safety.shell.tree_sitter_check import Disagreement, agree
from agent_cli.safety.shell.words import NotPlain, Word, resolve
from agent_cli.safety.shell.wrappers import HARMLESS_VARIABLES, unwrap_safely

SYSTEM_DIRECTORIES = frozenset({"/bin", "/usr/bin"})
MAX_CHARS = 8000
NO_SPEC = table.Spec()
MAX_SCRIPT_DEPTH = 4

Where = frozenset[str]
"""The directories the shell may stand in."""


@dataclass
class Proof:
    """What was learnt on the way."""

    unproven: list[Reason] = field(default_factory=list)
    sensitive: list[Reason] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    commands: list[SimpleCommand] = field(default_factory=list)
    unresolved: bool = False


def prove(source: str, place: ShellContext) -> Proof:
    """Look at every part of the command line; an empty `unproven` is a proof."""
    prover = Prover(place)
    if not inside(place.resolve(place.cwd), place.roots):
        prover.sensitive(because("shell_outside"))
    prover.script(source, frozenset({place.cwd}), 0)
    return prover.proof


class Prover:
    """Walks the structure with the set of directories the shell may stand in."""

    def __init__(self, place: ShellContext) -> None:
        self.place = place
        self.proof = Proof()

    def script(self, source: str, where: Where, level: int) -> Where:
        """Prove a whole script; returns where the shell may stand afterwards."""
        if len(source) > MAX_CHARS:
            self.mark_unresolved(because("too_long"))
            return where
        if level > MAX_SCRIPT_DEPTH:
            self.mark_unresolved(because("too_nested"))
            return where
        try:
            tokens = tokenize(source)
            node = parse(source, tokens)
            agree(source, node, tokens)
        except (NotPlain, Disagreement) as why:
            self.mark_unresolved(why.reason)
            return where
        done, failed = self._node(node, where, level)
        return done | failed

    def unproven(self, reason: Reason) -> None:
        # Also if it is there already: what is added while a command is read is that command's.
        self.proof.unproven.append(reason)

    def mark_unresolved(self, reason: Reason) -> None:
        self.proof.unresolved = True
        self.unproven(reason)

    def sensitive(self, reason: Reason) -> None:
        if reason not in self.proof.sensitive:
            self.proof.sensitive.append(reason)
        self.unproven(reason)

    # -- structure: each returns where the shell stands after success and after failure

    def _node(self, node: Node, where: Where, level: int) -> tuple[Where, Where]:
        match node:
            case Simple():
                return self._simple(node, where, level)
            case Sequence(parts=parts):
                done = failed = where
                for part in parts:
                    done, failed = self._node(part, done | failed, level)
                return done, failed
            case Chain():
                return self._chain(node, where, level)
            case Pipeline(parts=parts, negated=negated):
                return self._pipeline(parts, where, level, negated=negated)
            case Group(body=body, subshell=subshell, redirects=redirects):
                self._redirects(redirects, where)
                done, failed = self._node(body, where, level)
                return (where, where) if subshell else (done, failed)
            case If(conditions=conditions, branches=branches):
                return self._if(conditions, branches, where, level)

    def _chain(self, node: Chain, where: Where, level: int) -> tuple[Where, Where]:
        done, failed = self._node(node.first, where, level)
        for operator, part in node.rest:
            if operator == "&&":
                done, also_failed = self._node(part, done, level)
                failed |= also_failed
            else:
                also_done, failed = self._node(part, failed, level)
                done |= also_done
        return done, failed

    def _pipeline(
        self, parts: tuple[Node, ...], where: Where, level: int, *, negated: bool
    ) -> tuple[Where, Where]:
        if len(parts) == 1:
            done, failed = self._node(parts[0], where, level)
            return (failed, done) if negated else (done, failed)
        for part in parts:
            self._node(part, where, level)
        # Every part of a pipe runs in its own subshell.
        return where, where

    def _if(
        self, conditions: tuple[Node, ...], branches: tuple[Node, ...], where: Where, level: int
    ) -> tuple[Where, Where]:
        after: Where = frozenset()
        for condition, branch in zip(conditions, branches, strict=False):
            done, where = self._node(condition, where, level)
            after |= frozenset().union(*self._node(branch, done, level))
        if len(branches) > len(conditions):
            where = frozenset().union(*self._node(branches[-1], where, level))
        return after | where, after | where

    # -- one simple command

    def _simple(self, node: Simple, where: Where, level: int) -> tuple[Where, Where]:
        self._redirects(node.redirects, where)
        skipped = 2 if node.timed and node.words[1].raw == "-p" else int(node.timed)
        try:
            argv = [
                word
                for token in node.words[skipped:]
                for word in resolve(token.raw, self.place.home)
            ]
        except NotPlain as why:
            self.mark_unresolved(why.reason)
            return where, where
        self._assignments(node, argv)
        if not argv:
            return where, where
        if any(word.pattern is not None and word.may_be_option for word in argv):
            self.proof.unresolved = True
        return self.command(argv, where, level, node.text)

    def _assignments(self, node: Simple, argv: list[Word]) -> None:
        for name, value in node.assignments:
            if not argv:
                self.mark_unresolved(because("sets_later", name=name))
            elif not HARMLESS_VARIABLES.match(f"{name}={value}"):
                self.mark_unresolved(because("runs_with", name=name))

    def command(
        self, argv: list[Word], where: Where, level: int, text: str, *, external: bool = False
    ) -> tuple[Where, Where]:
        """Prove one argument list; `external` when a wrapper runs it without the shell."""
        before = len(self.proof.unproven)
        after = where, where
        index = len(self.proof.commands)
        try:
            after = self._command(argv, where, level, text, external=external)
        except Refused as why:
            name, reason = argv[0].text, why.reason
            is_named = name in reason.english()
            self.unproven(reason if is_named else because("named", name=name, why=reason))
        reasons = tuple(self.proof.unproven[before:])
        words = tuple([word.text for word in argv])
        self.proof.commands.insert(index, SimpleCommand(words, text, level, reasons))
        return after

    def _command(
        self, argv: list[Word], where: Where, level: int, text: str, *, external: bool
    ) -> tuple[Where, Where]:
        name = self._name(argv[0])
        rest = argv[1:]
        wrapped = unwrap_safely(name, rest)
        if wrapped is not None:
            if wrapped.script is not None:
                self.script(wrapped.script, where, level + 1)
                return where, where
            runs_alone = external or wrapped.external
            inner = self.command(wrapped.argv, where, level + 1, text, external=runs_alone)
            return (where, where) if runs_alone else inner
        context = checks.Context(self.place, where, self.look)
        if len(rest) == 1 and rest[0].text in table.versions().get(name, ()):
            special.check_version(name, context)
            return where, where
        spec = table.commands().get(name)
        if spec is None:
            raise Refused(because("can_change_files", name=name))
        if external and spec.builtin:
            raise Refused(because("builtin_only", name=name))
        if spec.check:
            moved = special.CHECKS[spec.check](spec, rest, context)
            return (where, where) if moved is None else (moved, where)
        checks.operands(spec, read(spec, rest), context)
        return where, where

    def _name(self, word: Word) -> str:
        if word.pattern is not None:
            raise Refused(because("depends_on_files", word=word.text))
        if "/" not in word.text:
            return word.text
        directory, name = posixpath.split(word.text)
        if directory not in SYSTEM_DIRECTORIES:
            raise Refused(because("can_change_files", name=word.text))
        if name in {"command", "builtin"} or table.commands().get(name, NO_SPEC).builtin:
            raise Refused(because("other_meaning", name=name))
        return name

    # -- files

    def _redirects(self, redirects: Iterable[Redirect], where: Where) -> None:
        for each in redirects:
            if each.operator in {"<<", "<<-"}:
                self.proof.unresolved = True
                continue
            try:
                words = resolve(each.raw, self.place.home)
            except NotPlain as why:
                self.mark_unresolved(why.reason)
                continue
            self._redirect(each, words, where)

    def _redirect(self, each: Redirect, words: list[Word], where: Where) -> None:
        if len(words) != 1 or words[0].pattern is not None:
            self.mark_unresolved(because("redirection"))
            return
        target = words[0].text
        if each.operator == "<<<":
            self.proof.unresolved = True
        elif (each.operator in {">&", "<&"} and re.fullmatch(r"[0-9]", target)) or (
            each.operator in {">", ">>", ">|", "&>", "&>>"} and target == "/dev/null"
        ):
            return
        elif each.operator == "<":
            self.proof.unresolved = True
            if target != "/dev/null":
                self.look(words[0], where, content=True)
        else:
            self.mark_unresolved(because("writes_to", target=target))

    def look(self, word: Word, where: Where, *, content: bool) -> None:
        """Note that a path is read, and refuse the proof where that needs the user."""
        for cwd in sorted(where):
            if word.pattern is None:
                self._look_at(absolute(word.text, cwd), word.text, content=content)
            else:
                self._look_at_pattern(word, cwd, content=content)

    def _look_at(self, path: str, shown: str, *, content: bool) -> None:
        real = self.place.resolve(path)
        if real == "/dev/null":
            return
        if real not in self.proof.reads:
            self.proof.reads.append(real)
        if not inside(real, self.place.roots):
            self.sensitive(because("outside_workspace", path=shown))
        if not content:
            return
        for each in (lexical(path), real):
            secret = is_secret(each, self.place.home)
            if secret:
                self.sensitive(because("secret_path", path=shown, why=secret))
                return

    def _look_at_pattern(self, word: Word, cwd: str, *, content: bool) -> None:
        assert word.pattern is not None
        pattern = absolute(word.pattern, cwd)
        parts = pattern.split("/")
        first = next(i for i, part in enumerate(parts) if any(char in part for char in "*?["))
        base = "/".join(parts[:first]) or "/"
        if ".." in parts[first:] or any(may_match_parent(part) for part in parts[first:]):
            self.sensitive(because("may_leave_workspace", path=word.text))
        self._look_at(base, word.text, content=content)
        if content:
            secret = next(filter(None, map(may_match_secret, parts[first:])), None)
            if secret:
                self.sensitive(because("may_match_secret", path=word.text, secret=secret))
        matches = self.place.expand(pattern)
        if matches is None:
            self.mark_unresolved(because("many_matches", path=word.text))
        for match in matches or ():
            if posixpath.basename(match).startswith("-") and word.may_be_option:
                self.mark_unresolved(because("file_as_option", word=posixpath.basename(match)))
            self._look_at(match, match, content=content)
