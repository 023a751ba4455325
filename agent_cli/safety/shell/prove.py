"""Prove that a plain command line only reads, or say why it is not proven."""

import posixpath
import re
from collections.abc import Iterable

from agent_cli.safety.reasons import Reason, because
from agent_cli.safety.shell import checks, special, table
from agent_cli.safety.shell.file_reads import FileReads
from agent_cli.safety.shell.lexer import Token, tokenize
from agent_cli.safety.shell.options import Refused, read
from agent_cli.safety.shell.proof import Proof, ProofNotes
from agent_cli.safety.shell.shell_facts import (
    ShellContext,
    SimpleCommand,
    inside,
)
from agent_cli.safety.shell.syntax import (
    Chain,
    Group,
    If,
    Loop,
    Node,
    Pipeline,
    Redirect,
    Sequence,
    Simple,
    parse,
)
from agent_cli.safety.shell.tree_sitter_check import Disagreement, agree
from agent_cli.safety.shell.values import Expansions, bind_values, is_loop_name
from agent_cli.safety.shell.words import UNKNOWN, NotPlain, Value, Word, resolve
from agent_cli.safety.shell.wrappers import fill_xargs, is_harmless_assignment, unwrap_safely

SYSTEM_DIRECTORIES = frozenset({"/bin", "/usr/bin"})
MAX_CHARS = 8000
NO_SPEC = table.Spec()
MAX_SCRIPT_DEPTH = 4

Where = frozenset[str]
"""The directories the shell may stand in."""


def prove(source: str, place: ShellContext) -> Proof:
    """Look at every part of the command line; an empty `unproven` is a proof."""
    prover = Prover(place)
    if not inside(place.resolve(place.cwd), place.roots):
        prover.sensitive(because("shell_outside"))
    prover.script(source, frozenset({place.cwd}), 0)
    return prover.proof


class Prover(ProofNotes):
    """Walks the structure with the set of directories the shell may stand in."""

    def __init__(self, place: ShellContext) -> None:
        super().__init__()
        self.place = place
        self.reads = FileReads(place, self)
        self.variables: dict[str, Value] = {}
        self.nested = 0
        self.reading = False
        """In the condition of a loop that reads lines."""

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

    def substitution(self, source: str, where: Where, level: int) -> None:
        """Prove a script in a word: it runs in a shell of its own, with the same variables."""
        before, self.nested = dict(self.variables), self.nested + 1
        if self.nested > MAX_SCRIPT_DEPTH:
            self.mark_unresolved(because("too_nested"))
        else:
            self.script(source, where, level)
        self.variables, self.nested = before, self.nested - 1

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
                self._redirects(redirects, where, level)
                done, failed = self._node(body, where, level)
                return (where, where) if subshell else (done, failed)
            case If(conditions=conditions, branches=branches):
                return self._if(conditions, branches, where, level)
            case Loop():
                self._loop(node, where, level)
                return where, where

    def _loop(self, node: Loop, where: Where, level: int) -> None:
        """Prove a loop's body for each value that its variable takes, or for an unknown one."""
        self._redirects(node.redirects, where, level)
        self.doubt(because("only_confined", name="for" if node.name else "while"))
        self.proof.unresolved = self.proof.has_values = True
        before = dict(self.variables)
        rounds: list[dict[str, Value]] = [{}]
        if node.name is not None:
            try:
                words = self._words(node.words, where, level)
            except NotPlain as why:
                self.mark_unresolved(why.reason)
                return
            if not is_loop_name(node.name.raw):
                self.mark_unresolved(because("sets_later", name=node.name.raw))
            values = bind_values(words, self.place, sorted(where))
            rounds = [{node.name.raw: value} for value in values]
        elif not (isinstance(node.condition, Simple) and node.condition.words[:1]):
            self.mark_unresolved(because("shell_keyword", word="while"))
            return
        for values_of_round in rounds:
            self.variables = before | values_of_round
            if node.condition is not None:
                self._reads_line(node.condition)
                self.reading = True
                self._node(node.condition, where, level)
                self.reading = False
            after = frozenset().union(*self._node(node.body, where, level))
            if after - where:
                self.mark_unresolved(because("unknown_destination"))
        self.variables = before

    def _reads_line(self, condition: Node) -> None:
        """Only `while read` is known to end with its input."""
        words = [token.raw for token in condition.words] if isinstance(condition, Simple) else []
        if words[:1] != ["read"]:
            self.mark_unresolved(because("shell_keyword", word="while"))
        for word in words[1:]:
            if is_loop_name(word):
                self.variables[word] = Value()

    def _words(self, tokens: Iterable[Token], where: Where, level: int) -> list[Word]:
        """The arguments that the tokens become; commands in them are proven on the way."""
        values = Expansions(self, where, level)
        found = [word for token in tokens for word in resolve(token.raw, self.place.home, values)]
        if values.used:
            self.proof.unresolved = self.proof.has_values = True
        return found

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
        self._redirects(node.redirects, where, level)
        skipped = 2 if node.timed and node.words[1].raw == "-p" else int(node.timed)
        try:
            argv = self._words(node.words[skipped:], where, level)
        except NotPlain as why:
            self.mark_unresolved(why.reason)
            return where, where
        if not argv:
            self._variables(node, where, level)
            return where, where
        self._assignments(node, argv)
        if any(word.pattern is not None and word.may_be_option for word in argv):
            self.proof.unresolved = True
        return self.command(argv, where, level, node.text)

    def _variables(self, node: Simple, where: Where, level: int) -> None:
        """Variables of the shell: what they hold is not followed, since branches may differ."""
        self.proof.unresolved = self.proof.has_values = True
        for name, value in node.assignments:
            if not is_loop_name(name):
                self.mark_unresolved(because("sets_later", name=name))
                continue
            self.doubt(because("sets_later", name=name))
            try:
                self._words([Token("word", value, 0)], where, level)
            except NotPlain as why:
                self.mark_unresolved(why.reason)
            self.variables[name] = Value()

    def _assignments(self, node: Simple, argv: list[Word]) -> None:
        for name, value in node.assignments:
            is_split = argv[0].text == "read" and name == "IFS" and value in {"", ",", ":", "|"}
            if not is_split and not is_harmless_assignment(f"{name}={value}"):
                self.mark_unresolved(because("runs_with", name=name))

    def command(
        self, argv: list[Word], where: Where, level: int, text: str, *, external: bool = False
    ) -> tuple[Where, Where]:
        """Prove one argument list; `external` when a wrapper runs it without the shell."""
        reasons: list[Reason] = []
        self.open.append(reasons)
        after = where, where
        index = len(self.proof.commands)
        try:
            after = self._command(argv, where, level, text, external=external)
        except Refused as why:
            name, reason = argv[0].text.replace(UNKNOWN, "…"), why.reason
            is_named = name in reason.english()
            self.unproven(reason if is_named else because("named", name=name, why=reason))
        self.open.pop()
        words = tuple([word.text for word in argv])
        known = not any(word.is_unknown for word in argv)
        shown = words if known else tuple(word.replace(UNKNOWN, "…") for word in words)
        self.proof.commands.insert(index, SimpleCommand(shown, text, level, tuple(reasons), known))
        return after

    def _command(
        self, argv: list[Word], where: Where, level: int, text: str, *, external: bool
    ) -> tuple[Where, Where]:
        name = self._name(argv[0])
        rest = argv[1:]
        wrapped = unwrap_safely(name, rest)
        if wrapped is not None:
            if wrapped.script is not None:
                before, self.variables = self.variables, {}
                self.script(wrapped.script, where, level + 1)
                self.variables = before
                return where, where
            runs_alone = external or wrapped.external
            inner = self.command(wrapped.argv, where, level + 1, text, external=runs_alone)
            return (where, where) if runs_alone else inner
        if name == "read" and self.reading and not external:
            if all(word.text == "-r" or is_loop_name(word.text) for word in rest):
                return where, where
            raise Refused(because("sets_variable"))
        if name == "xargs":
            self.doubt(because("only_confined", name="xargs"))
            self.command(fill_xargs(rest), where, level + 1, text, external=True)
            return where, where

        def run(inner: list[Word]) -> None:
            self.command(inner, where, level + 1, text, external=True)

        context = checks.Context(self.place, where, self.reads.look, self.doubt, run)
        if len(rest) == 1 and rest[0].text in table.versions().get(name, ()):
            special.check_version(name, context)
            return where, where
        spec = table.commands().get(name)
        if spec is None:
            raise Refused(because("can_change_files", name=name))
        if external and spec.builtin:
            raise Refused(because("builtin_only", name=name))
        if any(word.is_unknown for word in rest):
            checks.require_harmless(spec, rest, context)
        if spec.confined:
            special.CHECKS[spec.check](spec, rest, context)
            self.doubt(because("only_confined", name=name))
            return where, where
        if spec.check:
            moved = special.CHECKS[spec.check](spec, rest, context)
            return (where, where) if moved is None else (moved, where)
        checks.operands(spec, read(spec, rest), context)
        return where, where

    def _name(self, word: Word) -> str:
        checks.exact([word])
        if "/" not in word.text:
            return word.text
        directory, name = posixpath.split(word.text)
        if directory not in SYSTEM_DIRECTORIES:
            raise Refused(because("can_change_files", name=word.text))
        if name in {"command", "builtin"} or table.commands().get(name, NO_SPEC).builtin:
            raise Refused(because("other_meaning", name=name))
        return name

    # -- files

    def _redirects(self, redirects: Iterable[Redirect], where: Where, level: int) -> None:
        for each in redirects:
            if each.operator in {"<<", "<<-"}:
                self.proof.unresolved = True
                continue
            try:
                words = self._words([Token("word", each.raw, 0)], where, level)
            except NotPlain as why:
                self.mark_unresolved(why.reason)
                continue
            self._redirect(each, words, where)

    def _redirect(self, each: Redirect, words: list[Word], where: Where) -> None:
        if len(words) != 1 or words[0].pattern is not None or words[0].splits:
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
                self.reads.look(words[0], where, content=True)
        else:
            self.mark_unresolved(because("writes_to", target=target))
