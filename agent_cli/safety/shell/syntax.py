"""Parse the plain part of the shell language strictly; whatever else it sees is refused."""

import re
from dataclasses import dataclass
from typing import TypeAlias

from agent_cli.safety.name_sets import names
from agent_cli.safety.reasons import because
from agent_cli.safety.shell.lexer import REDIRECTIONS, Token
from agent_cli.safety.shell.words import NotPlain

MAX_DEPTH = 40
KEYWORDS = names(
    "for while until case select function coproc do done then fi elif else esac in ]] } time !"
)
ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)\Z", re.DOTALL)
_OPENERS = frozenset({"{", "if", "for", "while"})


@dataclass(frozen=True, slots=True)
class Redirect:
    operator: str
    raw: str
    number: str = ""
    body: str | None = None


@dataclass(frozen=True, slots=True)
class Simple:
    words: tuple[Token, ...]
    assignments: tuple[tuple[str, str], ...] = ()
    redirects: tuple[Redirect, ...] = ()
    text: str = ""
    timed: bool = False


@dataclass(frozen=True, slots=True)
class Pipeline:
    parts: "tuple[Node, ...]"
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Chain:
    """`first && second || third …`, read from the left."""

    first: "Node"
    rest: "tuple[tuple[str, Node], ...]"


@dataclass(frozen=True, slots=True)
class Sequence:
    parts: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class Group:
    body: "Node"
    subshell: bool
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class If:
    conditions: "tuple[Node, ...]"
    branches: "tuple[Node, ...]"
    """One per condition, and one more for `else`."""


@dataclass(frozen=True, slots=True)
class Loop:
    """`for name in words` or, without a name, `while condition`."""

    body: "Node"
    name: Token | None = None
    words: tuple[Token, ...] = ()
    condition: "Node | None" = None
    redirects: tuple[Redirect, ...] = ()


Node: TypeAlias = Simple | Pipeline | Chain | Sequence | Group | If | Loop


def parse(source: str, tokens: list[Token]) -> Node:
    """The structure of the command, or NotPlain."""
    return _Parser(source, tokens).whole()


@dataclass
class _Parser:
    source: str
    tokens: list[Token]
    at: int = 0
    depth: int = 0

    def whole(self) -> Node:
        node = self._sequence(frozenset())
        if self._now.kind != "end":
            raise NotPlain(because("unclear_syntax"))
        return node

    @property
    def _now(self) -> Token:
        return self.tokens[self.at]

    def _is_word(self, *raws: str) -> bool:
        now = self.tokens[self.at]
        return now.raw in raws and now.kind == "word"

    def _skip_newlines(self) -> None:
        while self._now.kind == "newline":
            self.at += 1

    def _expect(self, raw: str) -> None:
        if self._now.raw != raw:
            raise NotPlain(because("unclear_syntax"))
        self.at += 1

    def _sequence(self, stops: frozenset[str]) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise NotPlain(because("too_nested"))
        parts: list[Node] = []
        self._skip_newlines()
        while self._now.kind != "end" and self._now.raw not in stops:
            parts.append(self._chain())
            if self._now.kind not in {";", "newline"}:
                break
            self.at += 1
            self._skip_newlines()
        self.depth -= 1
        if not parts and stops:
            raise NotPlain(because("unclear_syntax"))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _chain(self) -> Node:
        node = self._pipeline()
        rest: list[tuple[str, Node]] = []
        while self._now.kind in {"&&", "||"}:
            operator = self._now.kind
            self.at += 1
            self._skip_newlines()
            rest.append((operator, self._pipeline()))
        if rest:
            node = Chain(node, tuple(rest))
        if self._now.kind == "&":
            raise NotPlain(because("background"))
        return node

    def _pipeline(self) -> Node:
        negated = self._is_word("!")
        if negated:
            self.at += 1
        parts = [self._command(first=True)]
        while self._now.kind in {"|", "|&"}:
            self.at += 1
            self._skip_newlines()
            parts.append(self._command(first=False))
        return parts[0] if len(parts) == 1 and not negated else Pipeline(tuple(parts), negated)

    def _command(self, *, first: bool) -> Node:
        now = self._now
        if now.kind == "(":
            return self._group(")", subshell=True)
        if now.kind != "word" or now.raw not in _OPENERS:
            return self._simple(first=first)
        if self._is_word("{"):
            return self._group("}", subshell=False)
        return self._if() if self._is_word("if") else self._loop()

    def _group(self, close: str, *, subshell: bool) -> Node:
        self.at += 1
        body = self._sequence(frozenset({close}))
        self._expect(close)
        return Group(body, subshell, self._redirects())

    def _redirects(self) -> tuple[Redirect, ...]:
        """What stands behind a group or a loop, up to its end."""
        redirects: list[Redirect] = []
        while self._now.kind == "number" or self._now.kind in REDIRECTIONS:
            redirects.append(self._redirect())
        if self._now.kind == "word":
            raise NotPlain(because("unclear_syntax"))
        return tuple(redirects)

    def _loop(self) -> Node:
        is_for = self._is_word("for")
        self.at += 1
        name, words, condition = None, [], None
        if is_for:
            name = self._now
            self.at += 1
            if name.kind != "word" or not self._is_word("in"):
                raise NotPlain(because("unclear_syntax"))
            self.at += 1
            while self._now.kind == "word":
                words.append(self._now)
                self.at += 1
            if self._now.kind not in {";", "newline"}:
                raise NotPlain(because("unclear_syntax"))
            self.at += 1
            self._skip_newlines()
        else:
            condition = self._sequence(frozenset({"do"}))
        self._expect("do")
        body = self._sequence(frozenset({"done"}))
        self._expect("done")
        return Loop(body, name, tuple(words), condition, self._redirects())

    def _if(self) -> Node:
        conditions: list[Node] = []
        branches: list[Node] = []
        while self._is_word("if", "elif"):
            self.at += 1
            conditions.append(self._sequence(frozenset({"then"})))
            self._expect("then")
            branches.append(self._sequence(frozenset({"elif", "else", "fi"})))
        if self._is_word("else"):
            self.at += 1
            branches.append(self._sequence(frozenset({"fi"})))
        self._expect("fi")
        if self._now.kind not in {";", "newline", "end", "&&", "||", "|", ")"}:
            raise NotPlain(because("unclear_syntax"))
        return If(tuple(conditions), tuple(branches))

    def _simple(self, *, first: bool) -> Node:
        start = self._now.start
        words: list[Token] = []
        assignments: list[tuple[str, str]] = []
        redirects: list[Redirect] = []
        tokens = self.tokens
        timed = first and self._is_word("time")
        if timed:
            words.append(self._now)
            self.at += 1
            if self._is_word("-p"):
                words.append(self._now)
                self.at += 1
        leading = len(words)
        while True:
            token = tokens[self.at]
            if token.kind == "word":
                found = ASSIGNMENT.match(token.raw) if len(words) == leading else None
                if found:
                    assignments.append((found.group(1), found.group(2)))
                else:
                    words.append(token)
                self.at += 1
            elif token.kind == "number" or token.kind in REDIRECTIONS:
                redirects.append(self._redirect())
            elif token.kind == "(":
                raise NotPlain(because("unclear_syntax"))
            else:
                break
        if len(words) > leading and words[leading].raw in KEYWORDS:
            raise NotPlain(because("shell_keyword", word=words[leading].raw))
        if len(words) == leading and (timed or not (assignments or redirects)):
            raise NotPlain(because("unclear_syntax"))
        text = self.source[start : self._previous_end()]
        return Simple(tuple(words), tuple(assignments), tuple(redirects), text, timed)

    def _previous_end(self) -> int:
        token = self.tokens[self.at - 1]
        return token.start + len(token.raw)

    def _redirect(self) -> Redirect:
        number = ""
        if self._now.kind == "number":
            number = self._now.raw
            self.at += 1
        operator = self._now
        self.at += 1
        target = self._now
        if target.kind not in {"word", "number"}:
            raise NotPlain(because("redirection"))
        self.at += 1
        return Redirect(operator.kind, target.raw, number, operator.body)
