"""Secrets found by the name they are assigned to, in code, settings and command lines."""

import re
from collections.abc import Iterator
from itertools import pairwise

from agent_cli.safety.tokens import words

# A hit on one of these is only where to look closer.
_ANCHORS = words("""
    password passwd passphrase passcode pwd secret token key credential authorization auth dsn
""")
_NAME_BEFORE = re.compile(r"[A-Za-z0-9_.-]*\Z")
_NAME_BEFORE_LIMIT = 60
_TAIL = re.compile(
    r"(?P<rest>[A-Za-z0-9_-]{0,40}+)"
    r"(?:(?P<close>\\?[\"'`]?\]?)[ \t]{0,8}+(?P<sign>=>|:=|[:=](?![:=]))[ \t]{0,8}+|(?P<flag>[ ]))"
    r"(?P<scheme>(?:[Bb]asic|[Bb]earer|[Tt]oken|[Aa]pi[Kk]ey)[ ]{1,4})?"
    r"(?:[rbuf]?(?P<quote>[\"'`]|\\\")(?P<quoted>(?:[^\"'`\\\s]|\\[^\s\"]|[ ](?=\S)){1,4096}+)"
    r"(?P=quote)"
    r"|(?P<bare>[^\s\"'`,;<>|&:=]{1,4096}+=*+))"
)
# A value is judged by its part before the next sign, then hidden whole: nothing is scanned twice.
_REST_OF_VALUE = re.compile(r"[^\s\"'`,;<>|&]*+")
_ENDS_IN_NUMBER = re.compile(r"\d+\Z")

# The name says secret if its last word does: MAX_TOKENS, KEY_PATH and SECRET_NAME do not.
_STRONG = re.compile(
    r"(?:^|[_.-])(?:\w*(?:password|passwd|passphrase|passcode)|pwd|pass)$", re.IGNORECASE
)
_MIDDLING = re.compile(
    r"(?:secret|credentials?|authorization|connection_?string"
    r"|(?:api|access|secret|private|auth|account|master|signing|encryption|service|license|ssh"
    r"|deploy|webhook|shared|session|app|application|storage|client)[_.-]?key(?:_?base)?"
    r"|token|(?:^|[_.-])(?:auth|_auth|dsn))$",
    re.IGNORECASE,
)
_ENV_NAME = re.compile(r"[A-Z][A-Z0-9_]*")
_ENV_WEAK = re.compile(r"(?:^|_)(?:[A-Z0-9]*KEY|AUTH|PASS|PAT|CREDS?)$")

_PLACEHOLDER = re.compile(
    r"(?:\$|%[({sdr%]|\{|<|\[|«|\.\.\.|…|\*+$|[xX*•.-]{3,}$|0+$|#)"
    r"|(?:your|my|some|the|a|an|example|sample|dummy|fake|test|insert|enter|change|replace)[ _-]"
    r"|changeme|placeholder|redacted|example$|todo$|null$|none$|nil$|true$|false$|undefined$|empty$"
    r"|(?:file|https?|arn|vault|op|env|ssm|secret|keychain|projects)[:/](?!.*@)",
    re.IGNORECASE,
)
_TYPES = words("""
    str string int integer bool boolean bytes bytearray float double char any object number dict
    list tuple set text varchar uuid unknown never void symbol bigint optional required password
    hidden secret token key value type default string! id ident identifier
""")
_CODE = re.compile(
    r"[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*[!?]?[\[({].*"  # a call, an index, a generic type
    r"|[A-Za-z_$][\w$]*(?:(?:\?\.|\.|::|->)[A-Za-z_$][\w$]*)+[!?)\]}]*"  # an attribute
    r"|[\[({@&*!+/\\~^?].*"  # a literal, an operator, a path
    r"|\.{0,2}/[\w./-]*"
)
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z_$]*\d{0,3}[)\]}:?!]*")
_KEBAB = re.compile(r"[A-Za-z]+(?:[-_./:][A-Za-z]+)*\d?")
_CLOSERS = ")]}"
_TEMPLATE = re.compile(r"[{<]|\*{3}|\.{3}$|environ|/path/|\$\(")
_VARIABLE = re.compile(r"[A-Za-z_$][\w$.]*(?:key|token|secret|passw|cred|auth)\w*", re.IGNORECASE)
_PROSE_FOLLOWS = re.compile(r"\.? [A-Za-z(]")


def assigned_secrets(text: str) -> Iterator[tuple[int, int]]:
    """Where the text holds the value of something named like a secret."""
    lowered = text.replace("\u0130", "I").lower()
    if len(lowered) != len(text):
        lowered = text
    done = 0
    for at, length in sorted(_anchors(lowered)):
        if at < done or not (found := _TAIL.match(text, at + length)):
            continue
        group = "quoted" if found["quoted"] is not None else "bare"
        start, end = found.span(group)
        start_of_name, name = _name(text, at, at + length + len(found["rest"]))
        if _is_secret(text, found, name, start_of_name):
            rest = _REST_OF_VALUE.match(text, end) if group == "bare" else None
            done = rest.end() if rest else end
            yield start, done


def _anchors(lowered: str) -> Iterator[tuple[int, int]]:
    for anchor in _ANCHORS:
        at = lowered.find(anchor)
        while at >= 0:
            yield at, len(anchor)
            at = lowered.find(anchor, at + len(anchor))


def _name(text: str, at: int, end: int) -> tuple[int, str]:
    before = _NAME_BEFORE.search(text[max(0, at - _NAME_BEFORE_LIMIT) : at])
    start = at - len(before.group()) if before else at
    return start, text[start:end]


def _is_secret(text: str, found: re.Match[str], name: str, start: int) -> bool:
    plain = _ENDS_IN_NUMBER.sub("", name.lstrip("-."))
    strong = _STRONG.search(plain) is not None
    is_flag = found["flag"] is not None
    if is_flag and not name.startswith("-"):
        return False
    if plain in ("PWD", "OLDPWD"):  # a directory, in every listing of an environment
        return False
    env_style = bool(_ENV_NAME.fullmatch(plain)) and not is_flag and found["sign"] == "="
    weak = env_style and _ENV_WEAK.search(plain)
    if not (strong or weak or _MIDDLING.search(plain)):
        return False
    value = found["quoted"]
    if value is not None:
        return _literal_is_secret(value, strong=strong)
    value = found["bare"]
    end = found.end("bare")
    if _is_placeholder(value, plain) or text.startswith("://", end):
        return False
    if found["scheme"]:
        return len(value) >= 8 and not _CODE.fullmatch(value)
    tight = text[found.start("bare") - 1] == "="
    if env_style and tight and not (text[end : end + 1] == "," and _VARIABLE.fullmatch(value)):
        return _setting_is_secret(value, strong=strong)
    if _CODE.fullmatch(value) or value[-1] in _CLOSERS or _VARIABLE.fullmatch(value):
        return False
    if found["sign"] == ":" and _PROSE_FOLLOWS.match(text, end):
        return False
    if strong and found["sign"] == ":" and _alone_on_line(text, start, found.end()):
        return not _reads_like_a_type(value)
    if _IDENTIFIER.fullmatch(value) and not (is_flag or (strong and _has_digit(value))):
        return False
    return _literal_is_secret(value, strong=strong)


def _literal_is_secret(value: str, *, strong: bool) -> bool:
    if _is_placeholder(value, "") or " " in value.strip():
        return False
    if strong:
        if _KEBAB.fullmatch(value) and "passw" in value.lower() and not value.isalpha():
            return False
        return len(value) >= 4 and (_is_mixed(value) or (len(value) >= 8 and value.islower()))
    if len(value) < 8 or (_KEBAB.fullmatch(value) and not _is_scrambled(value)):
        return False
    return _is_mixed(value) or len(value) >= 24


def _setting_is_secret(value: str, *, strong: bool) -> bool:
    """NAME=value as in a .env file or a shell: nearly anything is meant literally."""
    if value.startswith(("/", "./", "~/")) and value.count("/") > 1 and "." in value[1:]:
        return False
    if value.isdigit() and len(value) < 6 and not strong:
        return False
    return len(value) >= 4 and "(" not in value and value.lower() not in _TYPES


def _is_placeholder(value: str, name: str) -> bool:
    value = value.rstrip(".,:)]}[(")
    folded = value.lower()
    if not value or _TEMPLATE.search(value):
        return True
    if _PLACEHOLDER.match(value) or folded in _TYPES:
        return True
    return folded == name.lower() or (value.isupper() and value.replace("_", "").isalpha())


def _reads_like_a_type(value: str) -> bool:
    return value[:1].isupper() and value.isalpha()


def _alone_on_line(text: str, start: int, end: int) -> bool:
    line = text.rfind("\n", max(0, start - 80), start) + 1
    before = text[line:start] if line else text[max(0, start - 80) : start]
    return not before.strip(" \t\"'-#+") and text[end : end + 1] in ("", "\n", "\r")


def _is_mixed(value: str) -> bool:
    return _has_digit(value) + any(c.isalpha() for c in value) + (not value.isalnum()) >= 2


def _has_digit(value: str) -> bool:
    return any(c.isdigit() for c in value)


def _is_scrambled(value: str) -> bool:
    """Upper and lower case without the order of words."""
    changes = sum(a.islower() and b.isupper() for a, b in pairwise(value))
    return len(value) >= 16 and changes > len(value) // 6
