"""Unpacks a compressed answer piece by piece, never beyond what is wanted of it."""

import zlib
from typing import Any

from agent_cli.core.errors import ToolFailure

ACCEPTED = "gzip, deflate"


class Unpacker:
    """Collects at most `most` bytes; `is_full` says that there was more."""

    def __init__(self, encoding: str, most: int) -> None:
        self._most = most
        self._data = bytearray()
        self._stream = _stream(encoding.strip().lower())
        self.is_full = False

    def add(self, piece: bytes) -> None:
        """Take in what came over the wire."""
        room = self._most - len(self._data) + 1
        if self._stream is not None:
            try:
                piece = self._stream.decompress(piece, room)
            except zlib.error as error:
                raise ToolFailure(f"Cannot decompress the response: {error}.") from error
        self._data += piece[:room]
        if len(self._data) > self._most:
            del self._data[self._most :]
            self.is_full = True

    @property
    def data(self) -> bytes:
        """What was collected."""
        return bytes(self._data)


class _Deflated:
    """What servers call deflate: with a zlib header by the book, often without."""

    def __init__(self) -> None:
        self._start = b""
        self._stream: Any = None

    def decompress(self, piece: bytes, most: int) -> bytes:
        if self._stream is None:
            piece = self._start = self._start + piece
            if len(piece) < 2:
                return b""
            has_header = piece[0] & 15 == 8 and int.from_bytes(piece[:2], "big") % 31 == 0
            self._stream = zlib.decompressobj(zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS)
        unpacked: bytes = self._stream.decompress(piece, most)
        return unpacked


def _stream(encoding: str) -> Any:
    """Something that has `decompress(piece, most)`; None: nothing is packed."""
    match encoding:
        case "" | "identity":
            return None
        case "gzip" | "x-gzip":
            return zlib.decompressobj(zlib.MAX_WBITS | 16)
        case "deflate":
            return _Deflated()
        case _:
            raise ToolFailure(
                f"The response uses a compression that was not asked for ({encoding[:40]})."
            )
