"""Pages are decoded by the encodings of the web, and by no other codec that Python has."""

import pytest

from agent_cli.extensions.web.address import Address
from agent_cli.extensions.web.bodies import text_of
from agent_cli.extensions.web.http_client import HttpResponse


def answer(charset: str, body: bytes, *, meta: bool = False) -> HttpResponse:
    kind = "text/html" if meta else f"text/plain; charset={charset}"
    page = f'<html><meta charset="{charset}">'.encode() + body if meta else body
    address = Address.parse("http://h/")
    return HttpResponse(address, 200, "OK", (("Content-Type", kind),), page)


@pytest.mark.parametrize("meta", [True, False])
@pytest.mark.parametrize(
    "codec",
    [
        "punycode",
        "idna",
        "undefined",
        "raw_unicode_escape",
        "unicode_escape",
        "utf-7",
        "rot13",
        "zlib",
        "mbcs",
        "oem",
    ],
)
def test_a_codec_that_is_no_web_encoding_is_not_used(codec: str, *, meta: bool) -> None:
    body = b"hello \\u0041 +AEE-" + b"x-" * 200_000
    said = text_of(answer(codec, body, meta=meta))
    assert said is not None
    assert "hello \\u0041 +AEE-" in said


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        ("gbk", "表"),
        ("shift_jis", "日本"),
        ("windows-1252", "naïve"),
        ("koi8-r", "да"),
        ("big5", "表"),
    ],
)
def test_encodings_of_the_web_are(codec: str, text: str) -> None:
    assert text_of(answer(codec, text.encode(codec))) == text
