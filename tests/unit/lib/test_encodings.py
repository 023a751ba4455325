"""Encodings: recognised, named, and written back byte for byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_cli.lib.encodings import breaks_of, detect, invalid_bytes, readable

CHINESE = "这是一个用来测试编码识别的中文文件。\n第二行也有文字，还有 ASCII words。\n"


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"", "UTF-8"),
        (b"plain\n", "UTF-8"),
        ("naïve – 中文 🎉\n".encode(), "UTF-8"),
        (b"\xef\xbb\xbfwith mark\n", "UTF-8 with BOM"),
        ("hi\r\n".encode("utf-16"), "UTF-16 LE with BOM"),
        (b"\xfe\xff" + "hi\n".encode("utf-16-be"), "UTF-16 BE with BOM"),
        ("a longer line\n".encode("utf-16-le"), "UTF-16 LE"),
        ("a longer line\n".encode("utf-16-be"), "UTF-16 BE"),
        ("hi\n".encode("utf-32"), "UTF-32 LE with BOM"),
        (CHINESE.encode("gb18030"), "GB18030"),
        (b"caf\xe9\n", "Latin-1"),
        ("Ein Mädchen aß süße Äpfel über Öl\n".encode("latin-1"), "Latin-1"),
        ("naïve déjà vu façade\n".encode("latin-1"), "Latin-1"),
        ("“quoted” – 5 €\n".encode("cp1252"), "Windows-1252"),
        ("viel Süßes, überall Öl, ".encode() * 3 + b"\xff\n", "UTF-8"),
    ],
)
def test_an_encoding_is_told_from_the_bytes(data: bytes, name: str) -> None:
    found = detect(data)
    assert found is not None
    assert found.name == name
    text = found.decode_exactly(data)
    assert text is not None
    assert found.encode(text) == data


@pytest.mark.parametrize(
    "data",
    [
        b"\x00\x01hello\x00\xff",
        bytes(range(256)) * 4,
        b"\x7fELF\x02\x01\x01" + b"\0" * 9,
        b"\x01\x02\x03\x04" * 30,
        b"a\0b",
    ],
)
def test_what_is_not_text_has_no_encoding(data: bytes) -> None:
    assert detect(data) is None


@pytest.mark.parametrize("codec", ["utf-8", "gb18030"])
def test_a_sample_may_end_within_a_character(codec: str) -> None:
    data = (CHINESE * 20).encode(codec)
    names = {str(detect(data[:size], whole=False)) for size in range(200, 240)}
    assert len(names) == 1


@given(st.binary(max_size=400))
def test_bytes_survive_a_round_trip_or_it_is_known_that_they_do_not(data: bytes) -> None:
    found = detect(data)
    if found is not None:
        text = found.decode_exactly(data)
        assert text is None or found.encode(text) == data
        readable(found.decode(data)).encode("utf-8")


@given(
    # UTF-16 that begins with NUL cannot be told from UTF-32.
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    st.sampled_from(["utf-8-sig", "utf-16"]),
)
def test_marked_text_keeps_its_mark(text: str, codec: str) -> None:
    data = text.encode(codec)
    found = detect(data)
    assert found is not None
    assert found.decode_exactly(data) == text


@pytest.mark.parametrize(
    ("text", "breaks"),
    [
        ("", "none"),
        ("one line", "none"),
        ("a\nb\n", "LF"),
        ("a\r\nb\r\n", "CRLF"),
        ("a\r\nb\n", "mixed"),
        ("a\rb\r", "CR"),
        ("progress\rdone\n", "LF"),
    ],
)
def test_line_breaks_are_named(text: str, breaks: str) -> None:
    assert breaks_of(text) == breaks


def test_bytes_that_are_no_text_are_counted_and_made_readable() -> None:
    text = b"ok \xff\xfe end".decode("utf-8", "surrogateescape")
    assert invalid_bytes(text) == 2
    assert readable(text) == "ok \ufffd\ufffd end"
