"""What a secret looks like: by the name it goes under, and by its own shape."""

import re
from dataclasses import dataclass


def words(text: str) -> frozenset[str]:
    """A set of words, written as prose."""
    return frozenset(text.split())


_WORD_BREAK = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")

# Any of these as a word of a variable's name makes its value one that children should not inherit.
_NAME_WORDS = words("""
    key keys apikey accesskey secretkey privatekey token tokens apitoken accesstoken authtoken
    secret secrets password passwords passwd passphrase passcode pass pwd pw pin auth oauth
    authorization credential credentials creds cred private cookie cookies bearer jwt pat dsn
    webhook signature signing salt cert mnemonic seedphrase otp totp
""")
# Run-together spellings, e.g. OPENAIKEY or MYPASSWORD2.
_NAME_ENDING = re.compile(r"(?:key|token|secret|passw(?:or)?d|passphrase|credentials?)\d*$")
_NAME_INNOCENT = frozenset({"pwd", "oldpwd", "ssh_auth_sock", "monkey", "keyboard"})
_VALUE_HARMLESS = re.compile(r"(?:true|false|yes|no|on|off|none|null|auto|\d{1,5})?", re.IGNORECASE)

_CERT_NAME = re.compile(r"(?:^|_)(?:CA|CERTS?|BUNDLE|CACERT)$", re.IGNORECASE)
_FILE_VALUE = re.compile(r"~?(?:/[\w.+-]+)+\.(?:pem|crt|cer|key|json|txt|p12|pfx|cfg|conf|ini)")

_URL_PASSWORD = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s/@:]{0,256}:[^\s/@]{1,256}@")


@dataclass(frozen=True)
class Shape:
    """A kind of secret that gives itself away by its first characters.

    `anchor` is searched for literally; `pattern` is then matched from there, so a text without the
    anchor costs next to nothing. No pattern may scan further than its run of token characters.
    """

    anchor: str
    pattern: re.Pattern[str]
    run: re.Pattern[str]
    """As far as `pattern` can have looked: no need to start again in there."""


def _shape(anchor: str, rest: str) -> Shape:
    run = re.compile(r"[\w./+=-]*+" if "-]" in rest or "/" in rest else r"\w*+", re.ASCII)
    return Shape(anchor, re.compile(re.escape(anchor) + rest), run)


SHAPES: tuple[Shape, ...] = (
    _shape("sk-", r"[A-Za-z0-9_-]{20,}+"),
    _shape("sk-ant-", r"[A-Za-z0-9_-]{8,}+"),
    _shape("sk-or-", r"[A-Za-z0-9_-]{8,}+"),
    _shape("sk-proj-", r"[A-Za-z0-9_-]{8,}+"),
    _shape("sk_live_", r"[A-Za-z0-9]{8,}+"),
    _shape("sk_test_", r"[A-Za-z0-9]{8,}+"),
    _shape("rk_live_", r"[A-Za-z0-9]{8,}+"),
    _shape("whsec_", r"[A-Za-z0-9+/=]{16,}+"),
    *(_shape(f"gh{kind}_", r"[A-Za-z0-9]{20,}+") for kind in "pousr"),
    _shape("github_pat_", r"[A-Za-z0-9_]{20,}+"),
    *(
        _shape(kind, r"[A-Z0-9]{16}(?![A-Za-z0-9])")
        for kind in ("AKIA", "ASIA", "ABIA", "ACCA")  # long-lived, session, bearer, context
    ),
    _shape("AIza", r"[A-Za-z0-9_-]{30,}+"),
    _shape("ya29.", r"[A-Za-z0-9_-]{20,}+"),
    _shape("GOCSPX-", r"[A-Za-z0-9_-]{16,}+"),
    *(_shape(f"xox{kind}-", r"[A-Za-z0-9-]{10,}+") for kind in "abcdeoprs"),
    _shape("xapp-", r"[A-Za-z0-9-]{20,}+"),
    _shape("hooks.slack.com/services/", r"[A-Za-z0-9/]{20,}+"),
    *(
        _shape(kind, r"[A-Za-z0-9_.-]{16,}+")
        for kind in ("glpat-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-")
    ),
    _shape("npm_", r"[A-Za-z0-9]{30,}+"),
    _shape("pypi-", r"[A-Za-z0-9_-]{50,}+"),
    _shape("hf_", r"[A-Za-z0-9]{30,}+"),
    _shape("gsk_", r"[A-Za-z0-9]{30,}+"),
    _shape("xai-", r"[A-Za-z0-9]{30,}+"),
    _shape("pplx-", r"[A-Za-z0-9]{30,}+"),
    _shape("r8_", r"[A-Za-z0-9]{30,}+"),
    _shape("dop_v1_", r"[a-f0-9]{40,}+"),
    _shape("SG.", r"[A-Za-z0-9_-]{16,32}+\.[A-Za-z0-9_-]{16,64}+"),
    _shape("shpat_", r"[a-fA-F0-9]{32}"),
    _shape("AGE-SECRET-KEY-1", r"[A-Z0-9]{20,}+"),
    _shape("hvs.", r"[A-Za-z0-9_-]{20,}+"),
    _shape("dckr_pat_", r"[A-Za-z0-9_-]{20,}+"),
    _shape("lin_api_", r"[A-Za-z0-9]{20,}+"),
    _shape("PMAK-", r"[a-f0-9]{20,}+-[a-f0-9]{20,}+"),
    _shape("eyJ", r"[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{4,}+(?:\.[A-Za-z0-9_-]*+){1,3}"),
)


def secret_name(name: str) -> bool:
    """Whether a variable of this name usually holds a secret."""
    folded = name.lower()
    if folded in _NAME_INNOCENT:
        return False
    if any(word.lower() in _NAME_WORDS for word in _WORD_BREAK.split(name)):
        return True
    return _NAME_ENDING.search(folded) is not None


def secret_value(value: str) -> bool:
    """Whether the value is recognisably a secret, whatever its name."""
    if "-----BEGIN " in value or _URL_PASSWORD.search(value):
        return True
    return any(
        shape.anchor in value and shape.pattern.search(value) is not None for shape in SHAPES
    )


def looks_secret(name: str, value: str) -> bool:
    """Whether a variable should be kept from children, the model and the log."""
    if _VALUE_HARMLESS.fullmatch(value):
        return False
    if name.upper().endswith(("_FILE", "_PATH", "_DIR")) and value.startswith("/"):
        return secret_value(value)  # where a secret lies is none
    if value.startswith(("/", "~/")) and (_CERT_NAME.search(name) or _FILE_VALUE.fullmatch(value)):
        return secret_value(value)
    return secret_name(name) or secret_value(value)
