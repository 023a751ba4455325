"""What a file that is not text is, told from its first bytes."""

import re
import struct
from dataclasses import dataclass

from agent_cli.lib.language import mark, tr

_KINDS: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", mark("a PNG image")),
    (b"\xff\xd8\xff", mark("a JPEG image")),
    (b"GIF87a", mark("a GIF image")),
    (b"GIF89a", mark("a GIF image")),
    (b"%PDF-", mark("a PDF document")),
    (b"PK\x03\x04", mark("a zip archive")),
    (b"PK\x05\x06", mark("an empty zip archive")),
    (b"\x1f\x8b", mark("gzip data")),
    (b"BZh", mark("bzip2 data")),
    (b"\xfd7zXZ\0", mark("xz data")),
    (b"\x28\xb5\x2f\xfd", mark("Zstandard data")),
    (b"7z\xbc\xaf\x27\x1c", mark("a 7-Zip archive")),
    (b"Rar!\x1a\x07", mark("a RAR archive")),
    (b"\x7fELF", mark("an ELF program or library")),
    (b"\xcf\xfa\xed\xfe", mark("a Mach-O program or library")),
    (b"\xca\xfe\xba\xbe", mark("a Java class or Mach-O program")),
    (b"MZ", mark("a Windows program or library")),
    (b"\0asm", mark("a WebAssembly module")),
    (b"SQLite format 3\0", mark("an SQLite database")),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", mark("an old Microsoft Office document")),
    (b"PAR1", mark("Parquet data")),
    (b"II*\0", mark("a TIFF image")),
    (b"MM\0*", mark("a TIFF image")),
    (b"BM", mark("a BMP image")),
    (b"\0\0\x01\0", mark("an icon")),
    (b"ID3", mark("an MP3 recording")),
    (b"OggS", mark("an Ogg recording")),
    (b"fLaC", mark("a FLAC recording")),
    (b"wOFF", mark("a web font")),
    (b"wOF2", mark("a web font")),
    (b"OTTO", mark("an OpenType font")),
    (b"\0\x01\0\0\0", mark("a TrueType font")),
    (b"\x93NUMPY", mark("a NumPy array")),
)
_IMAGES = {
    "a PNG image": "image/png",
    "a JPEG image": "image/jpeg",
    "a GIF image": "image/gif",
    "a WebP image": "image/webp",
}
_WITHOUT_CONTROLS = re.compile(rb"[\t\n\f\r -~\x80-\xff]*")


@dataclass(frozen=True)
class Image:
    """A picture that models take."""

    media_type: str
    width: int | None
    height: int | None

    @property
    def name(self) -> str:
        """ "PNG image, 640×480"."""
        kind = self.media_type.removeprefix("image/").upper()
        if not self.width:
            return tr("{kind} image", kind=kind)
        return tr("{kind} image, {width}×{height}", kind=kind, width=self.width, height=self.height)


def kind_by_content(head: bytes) -> str | None:
    """What the file is, in words with an article, or None if its beginning is of no known kind.

    The words are English; `tr` translates them for the user.
    """
    if head[:4] == b"RIFF":
        return {
            b"WEBP": mark("a WebP image"),
            b"WAVE": mark("a WAV recording"),
            b"AVI ": mark("an AVI video"),
        }.get(head[8:12])
    if head[4:8] == b"ftyp":
        return mark("an MP4 video or the like")
    if head[257:262] == b"ustar":
        return mark("a tar archive")
    return next((kind for magic, kind in _KINDS if head.startswith(magic)), None)


def certainly_binary(head: bytes) -> str | None:
    """The kind, if it is recognised by bytes that no text begins with."""
    kind = kind_by_content(head)
    if kind is None or head.startswith(b"%PDF-") or head[0] >= 0x80:
        return kind
    return None if _WITHOUT_CONTROLS.fullmatch(head[:512]) else kind


def image(head: bytes) -> Image | None:
    """The picture of which these are the first bytes."""
    media_type = _IMAGES.get(kind_by_content(head) or "")
    if media_type is None:
        return None
    measure = {"image/png": _png, "image/jpeg": _jpeg, "image/gif": _gif, "image/webp": _webp}[
        media_type
    ]
    try:
        width, height = measure(head)
    except (struct.error, IndexError, ValueError):
        return Image(media_type, None, None)
    return Image(media_type, width, height)


def _png(head: bytes) -> tuple[int, int]:
    width, height = struct.unpack(">II", head[16:24])
    return width, height


def _gif(head: bytes) -> tuple[int, int]:
    width, height = struct.unpack("<HH", head[6:10])
    return width, height


def _jpeg(head: bytes) -> tuple[int, int]:
    """The size is in the first frame header; other segments are skipped."""
    position = 2
    while True:
        marker, length = struct.unpack(">xBH", head[position : position + 4])
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", head[position + 5 : position + 9])
            return width, height
        position += 2 + length


def _webp(head: bytes) -> tuple[int, int]:
    form = head[12:16]
    if form == b"VP8X":
        return _three(head[24:27]) + 1, _three(head[27:30]) + 1
    if form == b"VP8L":
        (bits,) = struct.unpack("<I", head[21:25])
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if form == b"VP8 ":
        width, height = struct.unpack("<HH", head[26:30])
        return width & 0x3FFF, height & 0x3FFF
    raise ValueError("not a form of WebP")


def _three(data: bytes) -> int:
    if len(data) < 3:
        raise ValueError("cut off")
    return int.from_bytes(data, "little")
