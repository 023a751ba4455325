"""The beginnings of pictures, 640×480 each."""

import struct
import zlib

PNG = (
    b"\x89PNG\r\n\x1a\n"
    + struct.pack(">I4sIIBBBBB", 13, b"IHDR", 640, 480, 8, 2, 0, 0, 0)
    + struct.pack(">I", zlib.crc32(b""))
)
JPEG = (
    b"\xff\xd8\xff\xe0" + struct.pack(">H", 16) + b"JFIF\0" + b"\0" * 9
    + b"\xff\xc0" + struct.pack(">HBHH", 17, 8, 480, 640) + b"\0" * 12
)  # fmt: skip
GIF = b"GIF89a" + struct.pack("<HH", 640, 480) + b"\0" * 8
WEBP = {
    "extended": b"RIFF\0\0\0\0WEBPVP8X" + b"\0" * 8 + b"\x7f\x02\0" + b"\xdf\x01\0",
    "lossless": b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + struct.pack("<I", 639 | 479 << 14),
    "lossy": b"RIFF\0\0\0\0WEBPVP8 " + b"\0" * 10 + struct.pack("<HH", 640, 480),
}
