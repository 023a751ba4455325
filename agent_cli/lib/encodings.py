"""Text in the encoding a file has: recognised, named, and written back byte for byte."""

import codecs
import re
from dataclasses import dataclass
from typing import Literal

SAMPLE = 65_536
"""Bytes from the beginning of a file that are enough to tell its encoding."""

Breaks = Literal["none", "LF", "CRLF", "CR", "mixed"]

_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\b\x1b") | {127})
_GB_PAIR = re.compile(rb"[\x81-\xfe][\x40-\x7e\x80-\xfe]|[\x80-\xff]")
_GB_COMMON = re.compile(rb"[\xa1-\xa3\xb0-\xf7][\xa1-\xfe]")
_UNDEFINED_IN_CP1252 = bytes((0x81, 0x8D, 0x8F, 0x90, 0x9D))
_MARKS = (
    (codecs.BOM_UTF8, "utf-8", "UTF-8 with BOM"),
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32 LE with BOM"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32 BE with BOM"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16 LE with BOM"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16 BE with BOM"),
)


@dataclass(frozen=True)
class Encoding:
    """How a file encodes text."""

    codec: str
    name: str
    bom: bytes = b""

    @property
    def is_wide(self) -> bool:
        """Whether a line break takes more than one byte."""
        return self.codec.startswith(("utf-16", "utf-32"))

    @property
    def errors(self) -> str:
        """What lets the bytes that are not text survive."""
        if self.is_wide:
            return "surrogatepass"
        return "surrogateescape" if self.codec == "utf-8" else "strict"

    def decode(self, data: bytes) -> str:
        """The text without its BOM; bytes that are no text become U+FFFD or lone surrogates."""
        body = data[len(self.bom) :] if self.bom and data.startswith(self.bom) else data
        try:
            return body.decode(self.codec, self.errors)
        except UnicodeDecodeError:
            return body.decode(self.codec, "replace")

    def encode(self, text: str) -> bytes:
        """The text as bytes, with the BOM; raises UnicodeEncodeError for what it cannot say."""
        return self.bom + text.encode(self.codec, self.errors)

    def decode_exactly(self, data: bytes) -> str | None:
        """The text, if writing it back gives these very bytes."""
        text = self.decode(data)
        try:
            return text if self.encode(text) == data else None
        except UnicodeEncodeError:
            return None


UTF_8 = Encoding("utf-8", "UTF-8")
_LATIN_1 = Encoding("latin-1", "Latin-1")
_CP1252 = Encoding("cp1252", "Windows-1252")
_GB18030 = Encoding("gb18030", "GB18030")
_UTF_16_LE = Encoding("utf-16-le", "UTF-16 LE")
_UTF_16_BE = Encoding("utf-16-be", "UTF-16 BE")
_NOT_IN_TEXT = re.compile(r"[\0-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f\ufffd]")


def detect(data: bytes, *, whole: bool = True) -> Encoding | None:
    """The encoding of text, or None for what is not text.

    `whole` is false for a sample, which may end in the middle of a character.
    """
    for mark, codec, name in _MARKS:
        if data.startswith(mark):
            return Encoding(codec, name, mark)
    if b"\0" in data:
        return _wide_without_mark(data)
    if _decodes(data, "utf-8", whole=whole):
        return None if _controls(data) > 0.3 else UTF_8
    if _controls(data) > 0.02:
        return None
    return _eight_bit(data, whole=whole)


def breaks_of(text: str) -> Breaks:
    """Which line breaks the text uses."""
    crlf = text.count("\r\n")
    lf = text.count("\n") - crlf
    cr = text.count("\r") - crlf
    used: list[Breaks] = []
    used += ["CRLF"] if crlf else []
    used += ["LF"] if lf else []
    if not used:
        return "CR" if cr else "none"
    return used[0] if len(used) == 1 else "mixed"


def readable(text: str) -> str:
    """The text fit for a log and a model: bytes that were no text become U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def invalid_bytes(text: str) -> int:
    """How many bytes were not text when it was decoded."""
    return 0 if text.isascii() else len(re.findall("[\udc80-\udcff]", text))


def _decodes(data: bytes, codec: str, *, whole: bool) -> bool:
    try:
        codecs.getincrementaldecoder(codec)("strict").decode(data, final=whole)
    except UnicodeDecodeError:
        return False
    return True


def _controls(data: bytes) -> float:
    """The share of control characters; text has hardly any, a few do not tell anything."""
    sample = data[:SAMPLE]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    return controls / len(sample) if controls > 4 else 0.0


def _wide_without_mark(data: bytes) -> Encoding | None:
    """UTF-16 of mostly western text: zeros in every other byte only, and nothing but text."""
    sample = data[: SAMPLE // 2 * 2]
    if len(sample) < 6 or len(data) % 2:
        return None
    zeros = (sample[::2].count(0), sample[1::2].count(0))
    for encoding, high, low in ((_UTF_16_LE, zeros[1], zeros[0]), (_UTF_16_BE, *zeros)):
        if low == 0 and high * 4 >= len(sample):
            text = sample.decode(encoding.codec, "replace")
            if not _NOT_IN_TEXT.search(text[:-1]):
                return encoding
    return None


def _eight_bit(data: bytes, *, whole: bool) -> Encoding:
    """The likeliest of the encodings that can hold these bytes."""
    sample = data[:SAMPLE]
    text = sample.decode("utf-8", "surrogateescape")
    invalid = invalid_bytes(text)
    beyond_ascii = sum(1 for character in text if character > "\x7f") - invalid
    if beyond_ascii > invalid:
        return UTF_8
    if _is_chinese(sample) and _decodes(data, "gb18030", whole=whole):
        return _GB18030
    if any(byte in sample for byte in _UNDEFINED_IN_CP1252):
        return UTF_8
    if re.search(rb"[\x80-\x9f]", data):
        return _CP1252 if _decodes(data, "cp1252", whole=whole) else UTF_8
    return _LATIN_1


def _is_chinese(sample: bytes) -> bool:
    """Whether bytes beyond ASCII come in the pairs of common Chinese characters.

    In western text they are alone between letters, which makes pairs that Chinese does not use.
    """
    pairs = _GB_PAIR.findall(sample)
    common = sum(1 for pair in pairs if _GB_COMMON.fullmatch(pair))
    return common >= 2 and common * 10 >= len(pairs) * 9
