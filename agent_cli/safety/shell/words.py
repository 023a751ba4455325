"""Turn the source text of one shell word into the exact arguments bash would make of it."""

import re
from dataclasses import dataclass
from typing import Protocol

from agent_cli.safety.reasons import ReasonedError, because

METACHARACTERS = frozenset(" \t\n|&;()<>")
GLOB = frozenset("*?[")
# A dollar sign before one of these stays a dollar sign in double quotes.
INERT_AFTER_DOLLAR = frozenset(' |)/,.;:%+=~^"')
ANSI_C = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r",
    "t": "\t", "v": "\v", "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
MAX_BRACES = 200
MAX_NESTED = 4
UNKNOWN = "\x00"
"""Stands in a word for what is only known at run time; it cannot occur in a command."""

Chars = list[tuple[str, bool]]
"""Characters, each with whether it was quoted."""


class NotPlain(ReasonedError):
    """The text does something whose outcome cannot be read from it."""


@dataclass(frozen=True, slots=True)
class Word:
    """One argument. `text` is exact unless the word is a glob or holds something unknown."""

    text: str
    raw: str
    pattern: str | None = None
    """Set when pathname expansion applies: what it may match, in the notation of globs.py."""
    splits: bool = False
    """Unquoted and unknown: it may become any number of arguments, and patterns in it expand."""
    below: tuple[str, ...] = ()
    """Of an unknown path: the directories it lies in."""

    @property
    def may_be_option(self) -> bool:
        """A file name that matches could be taken for an option."""
        return self.pattern is not None and self.text[:1] in GLOB

    @property
    def is_unknown(self) -> bool:
        """Whether part of it is only known at run time."""
        return UNKNOWN in self.text

    @property
    def is_exact(self) -> bool:
        """Whether it is this text and no other."""
        return self.pattern is None and UNKNOWN not in self.text


@dataclass(frozen=True, slots=True)
class Value:
    """What an expansion stands for, as far as it is known."""

    text: str = UNKNOWN
    pattern: str | None = None
    """One of the files that match this."""
    is_plain: bool = False
    """Unquoted it stays one word: it holds neither spaces nor wildcards."""


class Expander(Protocol):
    """Knows the values of expansions; raises NotPlain where even an unknown one will not do."""

    def variable(self, name: str) -> Value: ...

    def output(self, script: str) -> Value: ...


# Nothing in it is special to the shell but single quotes around text.
_LITERAL = re.compile(r"(?:[A-Za-z0-9_./:@%+,=-]|'[^']*')+")


_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*|[?#]))")


def resolve(raw: str, home: str, expander: Expander) -> list[Word]:
    """The arguments that one source word becomes; several when braces multiply it."""
    if _LITERAL.fullmatch(raw):
        return [Word(raw.replace("'", ""), raw)]
    alone = _VARIABLE.fullmatch(raw.removeprefix('"').removesuffix('"'))
    if alone and raw.count('"') in {0, 2}:
        value = expander.variable(alone[1] or alone[2])
        if value.pattern is not None and (value.is_plain or raw[0] == '"'):
            return [Word(value.text, raw, value.pattern)]
    return [_finish(chars, raw, home) for chars in _braces(_lex(raw, expander))]


def _finish(chars: Chars, raw: str, home: str) -> Word:
    chars = _tilde(chars, home)
    text = "".join(char for char, _ in chars)
    splits = (UNKNOWN, False) in chars
    if raw in {"[", "]", "[[", "]]"} or not any(
        char in GLOB and not quoted for char, quoted in chars
    ):
        return Word(text, raw, splits=splits)
    if UNKNOWN in text:
        raise NotPlain(because("runtime_value"))
    return Word(text, raw, _pattern(chars))


def _pattern(chars: Chars) -> str:
    """What a glob may match. Shells and locales differ on negations and ranges: any character."""
    if any(char == "\\" for char, _ in chars):
        raise NotPlain(because("ambiguous_pattern"))
    out: list[str] = []
    at = 0
    while at < len(chars):
        char, quoted = chars[at]
        at += 1
        if char == "[" and not quoted and ("]", False) in chars[at:]:
            close = chars.index(("]", False), at)
            out.append(_bracket(chars[at:close]))
            at = close + 1
        elif char in GLOB and (quoted or char == "["):
            out.append(f"[{char}]")
        else:
            out.append(char)
    return "".join(out)


def _bracket(inside: Chars) -> str:
    text = "".join(char for char, _ in inside)
    if text[:1] in {"", "!", "^"} and len(text) < 2:
        raise NotPlain(because("ambiguous_pattern"))
    if any(quoted for _, quoted in inside) or any(char in "[/" for char in text):
        raise NotPlain(because("ambiguous_pattern"))
    return "?" if text[0] in "!^" or "-" in text else f"[{text}]"


def _lex(raw: str, expander: Expander) -> Chars:
    out: Chars = []
    at, end = 0, len(raw)
    while at < end:
        char = raw[at]
        if char == "\\":
            if at + 1 >= end:
                raise NotPlain(because("unclear_syntax"))
            if raw[at + 1] != "\n":
                out.append((raw[at + 1], True))
            at += 2
        elif char == "'":
            close = _find(raw, "'", at + 1)
            out.extend((each, True) for each in raw[at + 1 : close])
            # An empty pair of quotes still makes an argument; bash keeps it without a trace.
            at = close + 1
        elif char == '"':
            at = _double(raw, at + 1, out, expander)
        elif char == "$":
            at = _dollar(raw, at, out, expander)
        elif char == "`":
            raise NotPlain(because("backticks"))
        elif char in METACHARACTERS or (char == "#" and not out and at == 0):
            raise NotPlain(because("unclear_syntax"))
        else:
            out.append((char, False))
            at += 1
    return out


def _find(raw: str, what: str, start: int) -> int:
    at = raw.find(what, start)
    if at < 0:
        raise NotPlain(because("unclosed_quote"))
    return at


def _double(raw: str, at: int, out: Chars, expander: Expander) -> int:
    while True:
        if at >= len(raw):
            raise NotPlain(because("unclosed_quote"))
        char = raw[at]
        if char == '"':
            return at + 1
        if char == "`":
            raise NotPlain(because("backticks"))
        if char == "$":
            if raw[at + 1 : at + 2] not in INERT_AFTER_DOLLAR:
                at = _expansion(raw, at, out, expander, quoted=True)
                continue
        elif char == "\\":
            following = raw[at + 1 : at + 2]
            if following in {"$", "`", '"', "\\", "\n"}:
                if following != "\n":
                    out.append((following, True))
                at += 2
                continue
        out.append((char, True))
        at += 1


def _expansion(raw: str, at: int, out: Chars, expander: Expander, *, quoted: bool) -> int:
    """Add what a variable or the output of a command stands for."""
    if raw.startswith("$(", at):
        end = end_of_substitution(raw, at)
        value = expander.output(raw[at + 2 : end - 1])
    else:
        found = _VARIABLE.match(raw, at)
        if not found:
            raise NotPlain(because("runtime_value"))
        end, value = found.end(), expander.variable(found[1] or found[2])
    text = value.text
    if value.pattern is not None:
        text = re.split(r"[*?\[]", text)[0] + UNKNOWN
    stays_one = quoted or value.is_plain or _LITERAL.fullmatch(text) is not None
    out.extend((char, stays_one) for char in (text if stays_one else UNKNOWN))
    return end


def end_of_substitution(source: str, at: int, level: int = 0) -> int:
    """Where `$(…)` ends that begins here; comments, heredocs and backticks are not followed."""
    if source.startswith("$((", at):
        raise NotPlain(because("shell_arithmetic"))
    if level > MAX_NESTED:
        raise NotPlain(because("too_nested"))
    at, depth = at + 2, 1
    while at < len(source):
        char = source[at]
        if char == "\\":
            at += 2
        elif char == "'":
            at = _find(source, "'", at + 1) + 1
        elif char == '"':
            at = end_of_double(source, at + 1, level)
        elif source.startswith("$(", at):
            at = end_of_substitution(source, at, level + 1)
        elif char in "`#" or source.startswith("<<", at):
            raise NotPlain(because("runtime_value"))
        else:
            depth += {"(": 1, ")": -1}.get(char, 0)
            at += 1
            if depth == 0:
                return at
    raise NotPlain(because("unclosed_quote"))


def end_of_double(source: str, at: int, level: int = 0) -> int:
    """Where a text in double quotes ends, after the quote."""
    while at < len(source):
        char = source[at]
        if char == '"':
            return at + 1
        if char == "`" or source.startswith(("${", "$["), at):
            found = _VARIABLE.match(source, at)
            if not found:
                raise NotPlain(because("runtime_value"))
            at = found.end()
        elif source.startswith("$(", at):
            at = end_of_substitution(source, at, level + 1)
        else:
            at += 2 if char == "\\" else 1
    raise NotPlain(because("unclosed_quote"))


def _dollar(raw: str, at: int, out: Chars, expander: Expander) -> int:
    following = raw[at + 1 : at + 2]
    if following == "":
        out.append(("$", True))
        return at + 1
    if following != "'":
        return _expansion(raw, at, out, expander, quoted=False)
    at += 2
    while True:
        char = raw[at : at + 1]
        if char == "":
            raise NotPlain(because("unclosed_quote"))
        if char == "'":
            return at + 1
        if char == "\\":
            at = _ansi_escape(raw, at + 1, out)
        else:
            out.append((char, True))
            at += 1


_NUMERIC = re.compile(r"x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})")


def _ansi_escape(raw: str, at: int, out: Chars) -> int:
    char = raw[at : at + 1]
    if char in ANSI_C and char:
        out.append((ANSI_C[char], True))
        return at + 1
    found = _NUMERIC.match(raw, at)
    if not found:
        raise NotPlain(because("unclear_syntax"))
    digits = next(group for group in found.groups() if group is not None)
    code = int(digits, 8 if found.group(4) else 16)
    # NUL ends the word in bash, and bytes above ASCII depend on the locale.
    if not 0 < code < 128:
        raise NotPlain(because("unclear_syntax"))
    out.append((chr(code), True))
    return found.end()


def _braces(chars: Chars) -> list[Chars]:
    """Expand `a{b,c}d` and `{1..3}`; nested or odd braces are left to the user."""
    opening = next((i for i, c in enumerate(chars) if c == ("{", False)), None)
    if opening is None:
        return [chars]
    closing = next((i for i, c in enumerate(chars) if i > opening and c == ("}", False)), None)
    if closing is None:
        if ("{", False) in chars[opening + 1 :] or (",", False) in chars[opening:]:
            raise NotPlain(because("braces"))
        return [chars]
    before, body, after = chars[:opening], chars[opening + 1 : closing], chars[closing + 1 :]
    if ("{", False) in body or any(quoted for _, quoted in body):
        raise NotPlain(because("braces"))
    rest = _braces(after)
    choices = _choices("".join(char for char, _ in body))
    if choices is None:
        middle: list[Chars] = [chars[opening : closing + 1]]
    else:
        middle = [[(char, False) for char in choice] for choice in choices]
    if len(middle) * len(rest) > MAX_BRACES:
        raise NotPlain(because("braces"))
    return [before + choice + tail for choice in middle for tail in rest]


_RANGE = re.compile(r"(-?\d{1,6})\.\.(-?\d{1,6})\Z", re.ASCII)


def _choices(body: str) -> list[str] | None:
    if "," in body:
        return body.split(",")
    if ".." not in body:
        return None
    found = _RANGE.match(body)
    if not found or any(re.match(r"-?0\d", part) for part in found.groups()):
        raise NotPlain(because("braces"))
    first, last = int(found.group(1)), int(found.group(2))
    if abs(last - first) > MAX_BRACES:
        raise NotPlain(because("braces"))
    step = 1 if last >= first else -1
    return [str(number) for number in range(first, last + step, step)]


def _tilde(chars: Chars, home: str) -> Chars:
    for index, (char, quoted) in enumerate(chars):
        # In words that look like assignments bash expands a tilde after `=` and `:` too.
        if (
            char == "~"
            and not quoted
            and index
            and chars[index - 1] in {("=", False), (":", False)}
        ):
            raise NotPlain(because("unclear_syntax"))
    if not chars or chars[0] != ("~", False):
        return chars
    if len(chars) == 1 or chars[1] == ("/", False):
        return [(char, True) for char in home] + chars[1:]
    raise NotPlain(because("other_home"))
