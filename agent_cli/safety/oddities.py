"""Text a person decides about: what is odd in it is made visible and named."""

import re
import unicodedata
from collections.abc import Iterator
from functools import reduce

from agent_cli.lib.language import mark, tr
from agent_cli.safety import characters as ch

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
        ("\x1b\x9b-\x9d\x90", mark("contains terminal control sequences")),
        (
            "\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x8f\x91-\x9a\x9e\x9f",
            mark("contains control characters"),
        ),
        (ch.BIDI, mark("contains characters that reverse the direction of text")),
        (_INVISIBLE, mark("contains invisible characters")),
        (ch.TAGS, mark("contains invisible tag characters, which can carry a hidden text")),
        (ch.SPACES, mark("contains unusual spaces")),
        ("\u2028\u2029", mark("contains unusual line separators")),
        (ch.PRIVATE, mark("contains characters without a meaning of their own (private use)")),
        (f"{ch.SURROGATES}{ch.NONCHARACTERS}", mark("contains invalid characters")),
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
_LOOK_ALIKE = {
    "CYRILLIC": mark("Cyrillic"),
    "GREEK": mark("Greek"),
    "ARMENIAN": mark("Armenian"),
    "CHEROKEE": mark("Cherokee"),
    "COPTIC": mark("Coptic"),
    "LATIN": mark("Latin"),
    "LISU": mark("Lisu"),
    "GEORGIAN": mark("Georgian"),
}
_COSTUMES = ("FULLWIDTH", "MATHEMATICAL", "CIRCLED", "DOUBLE-STRUCK", "SCRIPT", "BLACK-LETTER")
_MOST_WARNINGS = 12


def visible(text: str, *, one_line: bool = False) -> str:
    """The text with everything invisible or misleading spelled out, e.g. as `\\u{202e}`.

    Lines stay lines and tabs become spaces, unless it has to be one line.
    """
    if not ch.NOT_PLAIN_ASCII.search(text):
        return text.replace("\n", "\\n") if one_line else text
    if not text.isascii():
        text = ch.mark_floods().sub(_spelled_flood, text)
    text = _ESCAPED.sub(_spelled, text)
    if one_line:
        return text.replace("\n", "\\n").replace("\t", "\\t")
    return text.expandtabs(8) if "\t" in text else text


def oddities(text: str) -> tuple[str, ...]:
    """Warnings in words about a text that may not be what it seems."""
    return tuple(dict.fromkeys(_warnings(text)))[:_MOST_WARNINGS]


def punycode(host: str) -> str:
    """The host as the name system knows it."""
    labels = re.split(r"[.。．｡]", unicodedata.normalize("NFKC", host).lower())
    return ".".join(
        label if label.isascii() else "xn--" + label.encode("punycode", "replace").decode("ascii")
        for label in labels
    )


def _warnings(text: str) -> Iterator[str]:
    if not ch.NOT_PLAIN_ASCII.search(text):
        yield from _deceptive_addresses(text)
        return
    for pattern, warning in _WARNINGS:
        if pattern.search(text):
            yield tr(warning)
    if re.search(r"\r(?!\n)", text):
        yield tr("contains carriage returns, which overwrite a line")
    if not text.isascii():
        if ch.mark_floods().search(text):
            yield tr("contains letters buried under accents")
        yield from _deceptive_words(text)
    yield from _deceptive_addresses(text)


def _deceptive_words(text: str) -> Iterator[str]:
    for word in dict.fromkeys(_WORD.findall(text)):
        if word.isascii():
            continue
        scripts = {unicodedata.name(c, "?").split(" ")[0] for c in word}
        alike = [tr(_LOOK_ALIKE[script]) for script in sorted(scripts.intersection(_LOOK_ALIKE))]
        if len(alike) > 1:
            both = reduce(lambda one, other: tr("{one} and {other}", one=one, other=other), alike)
            yield tr("mixes {scripts} letters in “{word}”", scripts=both, word=visible(word))
        elif scripts.intersection(_COSTUMES):
            plain = unicodedata.normalize("NFKC", word)
            yield tr(
                "“{word}” is written in look-alike letters for “{plain}”",
                word=visible(word),
                plain=visible(plain),
            )


def _deceptive_addresses(text: str) -> Iterator[str]:
    hosts = []
    for found in _ADDRESS.finditer(text):
        hosts.append(found["host"])
        if found["user"] and "." in found["user"]:
            host, user = visible(found["host"]), visible(found["user"])
            yield tr("the address goes to {host}, not to {user}", host=host, user=user)
    if _NOT_ASCII.search(text):
        hosts += (word for word in _DOMAIN.findall(text) if _may_pass_for_another(word))
    for host in dict.fromkeys(hosts):
        if not host.isascii():
            yield tr("the host {host} is really {name}", host=visible(host), name=punycode(host))
        elif "xn--" in host.lower():
            yield tr("the host {host} stands for a name in other letters", host=visible(host))


def _may_pass_for_another(word: str) -> bool:
    """Han characters pass for no others, but for strokes: 文档.md and 完成。再见 deceive nobody."""
    letters = [char for char in word if char.isalpha() and not char.isascii()]
    if not letters:
        return not word.isascii()
    return _STROKES.search(word) is not None or not all(map(_is_han, letters))


def _is_han(char: str) -> bool:
    return unicodedata.name(char, "?").startswith("CJK UNIFIED")


def _spelled(found: re.Match[str]) -> str:
    return _REPEATED.sub(_spelled_run, found.group()).translate(_SPELLING)


def _spelled_run(found: re.Match[str]) -> str:
    return f"{_spelling(ord(found[1]))}×{len(found.group())} "


def _spelled_flood(found: re.Match[str]) -> str:
    kept = found.group()[: ch.MOST_MARKS]
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
