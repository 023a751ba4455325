"""Split a command line into words and operators strictly; whatever it cannot split is refused."""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from agent_cli.safety.reasons import because
from agent_cli.safety.shell.words import (
    METACHARACTERS,
    NotPlain,
    end_of_double,
    end_of_substitution,
)

_OPERATOR = re.compile(r"&>>|<<<|<<-|&&|\|\||\|&|;;|&>|>>|>\||>&|<<|<&|<>")
_ORDINARY = re.compile(r"[A-Za-z0-9_./:@%+,=*?~!^{}\[\]-]+")
_PLAIN_WORD = re.compile(rf"[ \t]*({_ORDINARY.pattern})(?=[ \t\n|&;()<>]|\Z)")
REDIRECTIONS = frozenset({"<", ">", ">>", ">|", "&>", "&>>", ">&", "<&", "<>", "<<<", "<<", "<<-"})


class Token(NamedTuple):
    """A word or an operator, with its place in the source."""

    kind: str
    """`word`, `number` (before a redirection), `newline`, `end`, or the operator itself."""
    raw: str
    start: int
    body: str | None = None
    """Of a heredoc operator: the text that follows."""


def tokenize(source: str) -> list[Token]:
    """Split into words and operators as bash does, refusing what needs evaluation to split."""
    return _Lexer(source).run()


@dataclass
class _Lexer:
    source: str
    at: int = 0
    tokens: list[Token] = field(default_factory=list)
    pending: int | None = None
    """Index of the heredoc operator whose body starts at the next newline."""

    def run(self) -> list[Token]:
        source, end = self.source, len(self.source)
        while self.at < end:
            plain = _PLAIN_WORD.match(source, self.at)
            if plain:
                self.tokens.append(Token("word", plain[1], plain.start(1)))
                self.at = plain.end()
                continue
            char = source[self.at]
            if char in {" ", "\t"}:
                self.at += 1
            elif char == "\n":
                self._newline()
            elif source.startswith("\\\n", self.at):
                if self.pending is not None:
                    raise NotPlain(because("heredoc"))
                self.at += 2
            elif char == "#":
                stop = source.find("\n", self.at)
                self.at = end if stop < 0 else stop
            elif char in METACHARACTERS:
                self._operator()
            else:
                self._word()
        if self.pending is not None:
            raise NotPlain(because("heredoc"))
        self.tokens.append(Token("end", "", end))
        return self.tokens

    def _newline(self) -> None:
        self.tokens.append(Token("newline", "\n", self.at))
        self.at += 1
        if self.pending is not None:
            self._heredoc(self.pending)
            self.pending = None

    def _operator(self) -> None:
        start = self.at
        found = _OPERATOR.match(self.source, start)
        operator = found.group() if found else self.source[start]
        self.at += len(operator)
        following = self.source[self.at : self.at + 1]
        if operator in {"<", ">"} and following == "(":
            raise NotPlain(because("process_substitution"))
        if operator == "(" and following == "(":
            raise NotPlain(because("shell_arithmetic"))
        previous = self.tokens[-1] if self.tokens else None
        if operator in REDIRECTIONS and previous and previous.kind == "word":
            touching = previous.start + len(previous.raw) == start
            if touching and not operator.startswith("&") and _is_number(previous.raw):
                self.tokens[-1] = Token("number", previous.raw, previous.start)
            elif touching and previous.raw.startswith("{"):
                raise NotPlain(because("redirection"))
        if operator in {"<<", "<<-"}:
            if self.pending is not None:
                raise NotPlain(because("heredoc"))
            self.pending = len(self.tokens)
        self.tokens.append(Token(operator, operator, start))

    def _word(self) -> None:
        source, start, end = self.source, self.at, len(self.source)
        at = start
        while at < end:
            char = source[at]
            if char in METACHARACTERS:
                break
            if char == "\\":
                at += 2
            elif char == "'":
                at = _skip(source, "'", at + 1)
            elif char == '"':
                at = end_of_double(source, at + 1)
            elif char == "$" and source.startswith("$'", at):
                at = _skip_ansi(source, at + 2)
            elif source.startswith("$(", at):
                at = end_of_substitution(source, at)
            elif char == "`" or (char == "$" and source[at + 1 : at + 2] in {"[", '"'}):
                raise NotPlain(because("runtime_value"))
            else:
                run = _ORDINARY.match(source, at)
                at = run.end() if run else at + 1
        if at > end:
            raise NotPlain(because("unclear_syntax"))
        if self.pending is not None and "\n" in source[start:at]:
            raise NotPlain(because("heredoc"))
        self.at = at
        self.tokens.append(Token("word", source[start:at], start))

    def _heredoc(self, index: int) -> None:
        operator = self.tokens[index]
        delimiter = self.tokens[index + 1]
        if delimiter.kind != "word":
            raise NotPlain(because("heredoc"))
        name = re.fullmatch(r"'([\w.-]+)'|\"([\w.-]+)\"|([\w.-]+)", delimiter.raw, re.ASCII)
        if not name:
            raise NotPlain(because("heredoc"))
        quoted = name.group(3) is None
        wanted = name.group(1) or name.group(2) or name.group(3)
        start = self.at
        while True:
            stop = self.source.find("\n", self.at)
            line = self.source[self.at :] if stop < 0 else self.source[self.at : stop]
            begin, self.at = self.at, len(self.source) if stop < 0 else stop + 1
            if (line.lstrip("\t") if operator.kind == "<<-" else line) == wanted:
                break
            if stop < 0:
                raise NotPlain(because("heredoc"))
        body = self.source[start:begin]
        if not quoted and any(char in body for char in "$`\\"):
            raise NotPlain(because("heredoc"))
        self.tokens[index] = Token(operator.kind, operator.raw, operator.start, body)


def _skip(source: str, what: str, at: int) -> int:
    found = source.find(what, at)
    if found < 0:
        raise NotPlain(because("unclosed_quote"))
    return found + 1


def _skip_ansi(source: str, at: int) -> int:
    while at < len(source):
        if source[at] == "'":
            return at + 1
        at += 2 if source[at] == "\\" else 1
    raise NotPlain(because("unclosed_quote"))


def _is_number(raw: str) -> bool:
    return raw.isascii() and raw.isdecimal()
