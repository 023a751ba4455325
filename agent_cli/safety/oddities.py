"""Text the user decides about: what is odd in it is made visible and named."""

import re
import unicodedata
from collections.abc import Iterator
from functools import reduce

from agent_cli.safety import characters as ch
from agent_cli.safety.reasons import Reason, because

_ESCAPES = {"\a": "\\a", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\v": "\\v", "\f": "\\f"}
_ESCAPES |= {"\r": "\\r", "\0": "\\0"}
_INVISIBLE = f"{ch.ZERO_WIDTH}{ch.SELECTORS}"
_ESCAPED = re.compile(
    f"[{ch.CONTROLS}{ch.BIDI}{_INVISIBLE}{ch.TAGS}{ch.SURROGATES}{ch.NONCHARACTERS}"
    f"{ch.LINE_BREAKS}{ch.SPACES}{ch.PRIVATE}]+"
)
_REPEATED = re.compile(r"(.)\1{3,}", re.DOTALL)

_WARNINGS = tuple(
    (re.compile(f"[{characters}]"), warning)
    for characters, warning in (
        ("\x1b\x9b-\x9d\x90", "terminal_sequences"),
        (
            "\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x8f\x91-\x9a\x9e\x9f",
            "control_characters",
        ),
        (ch.BIDI, "reversed_text"),
        (_INVISIBLE, "invisible_characters"),
        (ch.TAGS, "tag_characters"),
        (ch.SPACES, "unusual_spaces"),
        ("\u2028\u2029", "line_separators"),
        (ch.PRIVATE, "private_characters"),
        (f"{ch.SURROGATES}{ch.NONCHARACTERS}", "invalid_characters"),
    )
)
_WORD = re.compile(r"[^\W\d_]{2,64}")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_ADDRESS = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]{0,20}://(?:(?P<user>[^\s/?#@\"'<>]{1,256})@)?"
    r"(?P<host>[^\s/?#:@\"'<>|;&()]{1,255})"
)
_DOMAIN = re.compile(r"[\w-]{1,63}(?:[.。．｡][\w-]{1,63}){1,8}")
# Beside plain letters these look like a dash, a slash, a comma or a zero.
_STROKES = re.compile(r"[!-~][一丨丶丿亅〇]|[一丨丶丿亅〇][!-~]")
_LOOK_ALIKE = frozenset(
    ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LATIN", "LISU", "GEORGIAN")
)
_COSTUMES = ("FULLWIDTH", "MATHEMATICAL", "CIRCLED", "DOUBLE-STRUCK", "SCRIPT", "BLACK-LETTER")
_MAX_WARNINGS = 12


def visible(text: str, *, one_line: bool = False) -> str:
    """The text with everything invisible or misleading spelled out, e.g. as `\\u{202e}`.

    Lines stay lines and tabs become spaces, unless it has to be one line.
    """
    if not ch.NOT_PLAIN_ASCII.search(text):
        return text.replace("\n", "\\n") if one_line else text
    if not text.isascii():
        text = ch.mark_floods().sub(_spell_flood, text)
    text = _ESCAPED.sub(_spell, text)
    if one_line:
        return text.replace("\n", "\\n").replace("\t", "\\t")
    return text.expandtabs(8) if "\t" in text else text


def oddities(text: str) -> tuple[Reason, ...]:
    """Warnings about a text that may not be what it seems."""
    return tuple(dict.fromkeys(_warnings(text)))[:_MAX_WARNINGS]


def punycode(host: str) -> str:
    """The host as the name system knows it."""
    labels = re.split(r"[.。．｡]", unicodedata.normalize("NFKC", host).lower())
    return ".".join(
        label if label.isascii() else "xn--" + label.encode("punycode", "replace").decode("ascii")
        for label in labels
    )


def _warnings(text: str) -> Iterator[Reason]:
    if not ch.NOT_PLAIN_ASCII.search(text):
        yield from _deceptive_addresses(text)
        return
    for pattern, warning in _WARNINGS:
        if pattern.search(text):
            yield because(warning)
    if re.search(r"\r(?!\n)", text):
        yield because("carriage_returns")
    if not text.isascii():
        if ch.mark_floods().search(text):
            yield because("stacked_accents")
        yield from _deceptive_words(text)
    yield from _deceptive_addresses(text)


def _deceptive_words(text: str) -> Iterator[Reason]:
    for word in dict.fromkeys(_WORD.findall(text)):
        if word.isascii():
            continue
        scripts = {unicodedata.name(c, "?").split(" ")[0] for c in word}
        alike = [because(script.lower()) for script in sorted(scripts & _LOOK_ALIKE)]
        if len(alike) > 1:
            both = reduce(lambda one, other: because("both", one=one, other=other), alike)
            yield because("mixed_scripts", scripts=both, word=visible(word))
        elif scripts.intersection(_COSTUMES):
            plain = unicodedata.normalize("NFKC", word)
            yield because("look_alike", word=visible(word), plain=visible(plain))


def _deceptive_addresses(text: str) -> Iterator[Reason]:
    hosts = []
    for found in _ADDRESS.finditer(text):
        hosts.append(found["host"])
        if found["user"] and "." in found["user"]:
            host, user = visible(found["host"]), visible(found["user"])
            yield because("misleading_address", host=host, user=user)
    if _NOT_ASCII.search(text):
        hosts += (word for word in _DOMAIN.findall(text) if _may_pass_for_another(word))
    for host in dict.fromkeys(hosts):
        if not host.isascii():
            yield because("host_really", host=visible(host), name=punycode(host))
        elif "xn--" in host.lower():
            yield because("encoded_host", host=visible(host))


def _may_pass_for_another(word: str) -> bool:
    """Han characters pass for no others, but for strokes: 文档.md and 完成。再见 deceive nobody."""
    letters = [char for char in word if char.isalpha() and not char.isascii()]
    if not letters:
        return not word.isascii()
    return _STROKES.search(word) is not None or not all(map(_is_han, letters))


def _is_han(char: str) -> bool:
    return unicodedata.name(char, "?").startswith("CJK UNIFIED")


def _spell(found: re.Match[str]) -> str:
    return _REPEATED.sub(_spell_run, found.group()).translate(_SPELLING)


def _spell_run(found: re.Match[str]) -> str:
    return f"{_spelling(ord(found[1]))}×{len(found.group())} "


def _spell_flood(found: re.Match[str]) -> str:
    kept = found.group()[: ch.MAX_MARKS]
    return kept + f"\\u{{{ord(kept[-1]):x}}}×{len(found.group()) - len(kept)} "


def _spelling(code: int) -> str:
    character = chr(code)
    if character in _ESCAPES:
        return _ESCAPES[character]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{{{code:x}}}"


class _Spelling(dict[int, str]):
    def __missing__(self, code: int) -> str:
        if 0x20 <= code < 0x7F or code == 0xD7:
            raise LookupError(code)
        self[code] = _spelling(code)
        return self[code]


_SPELLING = _Spelling()
