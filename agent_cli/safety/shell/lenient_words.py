"""Turn the pieces of a word into its likely value, for the lenient scan."""

import re

from agent_cli.safety.shell.shell_facts import lexical

UNKNOWN = "\x00"
"""Stands for what is only known at run time; the character cannot occur in a command."""
SHADOW = 0xE000
"""Quoted special characters are shifted here until a word is finished."""
SPECIAL = "{},*?[]~ \t\n="
TO_SHADOW = {ord(char): chr(SHADOW + ord(char)) for char in SPECIAL}
MAX_VALUE_CHARS = 1024
MAX_WORDS = 256

ANSI = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|(.))", re.DOTALL
)
LETTERS = dict(zip("ntrabefv", "\n\t\r\a\b\x1b\f\v", strict=True))


def printed_text(argv: tuple[str, ...]) -> str | None:
    """The output of echo or printf, approximately."""
    words = list(argv[1:])
    escapes = argv[0] == "printf"
    while argv[0] == "echo" and words and re.fullmatch(r"-[neE]+", words[0]):
        escapes = escapes or "e" in words[0]
        words = words[1:]
    if argv[0] == "printf" and len(words) > 1 and "%" in words[0]:
        words = [words[0].replace("%s", " ".join(words[1:]), 1)]
    text = " ".join(words)
    return ANSI.sub(decode, text) if escapes else text


def decode(found: re.Match[str], nul: str = "") -> str:
    """The character that an escape stands for; `nul` for the one that no text can hold."""
    *hexadecimal, octal, letter = found.groups()
    digits = next(filter(None, hexadecimal), None)
    if not (digits or octal):
        return LETTERS.get(letter, letter)
    code = int(digits, 16) if digits else int(octal, 8)
    return nul if not code else chr(code) if code < SHADOW else UNKNOWN


def unshadow(text: str) -> str:
    return text if text.isascii() else text.translate(_FROM_SHADOW)


_FROM_SHADOW = {SHADOW + code: chr(code) for code in range(128)}


WILDCARD = re.compile("[*?[" + "".join(chr(SHADOW + ord(char)) for char in "*?[") + "]")


def globs(whole: str, variables: dict[str, str]) -> list[tuple[str, str]]:
    """The words with wildcards that a finished word becomes, each with its pattern."""
    if not WILDCARD.search(whole):
        return []
    words = [_tilde(word, variables) for word in braces(whole)]
    return [(unshadow(word), _pattern(word)) for word in words if WILDCARD.search(word)]


def _pattern(word: str) -> str:
    return unshadow(re.sub("[\ue02a\ue03f\ue05b]", lambda found: f"[{found.group()}]", word))


def _tilde(word: str, variables: dict[str, str]) -> str:
    home = variables.get("HOME", UNKNOWN)
    if word.startswith("~"):
        name, slash, rest = word[1:].partition("/")
        if not name:
            word = home + slash + rest
        elif name == "root":
            word = "/root" + slash + rest
        elif name == home.rpartition("/")[2]:
            word = home + slash + rest
    return word


PLAIN = re.compile(r"[A-Za-z0-9_./:@%+,=-]+")
"""A word that stands for itself."""


def expand(whole: str, variables: dict[str, str]) -> list[str]:
    """A finished word after braces, tilde and the removal of quotes."""
    if whole.isascii() and "{" not in whole and not whole.startswith("~"):
        return [whole]
    return [unshadow(_tilde(word, variables)) for word in braces(whole)]


def braces(whole: str) -> list[str]:
    """The words that `a{b,c}` stands for."""
    pending = [whole]
    done: list[str] = []
    while pending:
        word = pending.pop()
        choices = _choices(word) if len(pending) + len(done) < MAX_WORDS else None
        if choices is None:
            done.append(word)
        else:
            pending.extend(reversed(choices))
    return [word for word in done if word] or [""]


_RANGE = re.compile(r"\{(-?\d{1,6})\.\.(-?\d{1,6})\}", re.ASCII)


def _choices(word: str) -> list[str] | None:
    close = word.find("}")
    while close >= 0:
        start = word.rfind("{", 0, close)
        if start >= 0 and "," in word[start:close] and len(word) < MAX_VALUE_CHARS:
            return [
                word[:start] + choice + word[close + 1 :]
                for choice in word[start + 1 : close].split(",")
            ]
        numbers = _RANGE.fullmatch(word, start, close + 1) if start >= 0 else None
        if numbers:
            first, last = int(numbers.group(1)), int(numbers.group(2))
            step = 1 if last >= first else -1
            choices = range(first, last + step, step)[: MAX_WORDS * 2]
            return [f"{word[:start]}{number}{word[close + 1 :]}" for number in choices]
        close = word.find("}", close + 1) if len(word) < MAX_VALUE_CHARS else -1
    return None


def follow_cd(cwd: str | None, words: list[str], variables: dict[str, str]) -> str | None:
    target = next((word for word in words if not word.startswith("-") or word == "-"), None)
    if target is None:
        return variables.get("HOME")
    if UNKNOWN in target or target == "-":
        return None
    if target.startswith("/"):
        return lexical(target)
    return None if cwd is None else lexical(f"{cwd}/{target}")
