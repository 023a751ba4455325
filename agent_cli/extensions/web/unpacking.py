"""Unpacks a compressed answer piece by piece, never beyond what is wanted of it."""

import zlib

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
                raise ToolFailure(f"The answer cannot be unpacked: {error}.") from error
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
        self._stream = zlib.decompressobj()
        self._is_first = True

    def decompress(self, piece: bytes, most: int) -> bytes:
        was_first, self._is_first = self._is_first, not piece and self._is_first
        try:
            return self._stream.decompress(piece, most)
        except zlib.error:
            if not was_first:
                raise
        self._stream = zlib.decompressobj(-zlib.MAX_WBITS)
        return self._stream.decompress(piece, most)


class _Gzipped:
    """Gzip, of which several may follow one another."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(zlib.MAX_WBITS | 16)

    def decompress(self, piece: bytes, most: int) -> bytes:
        unpacked = bytearray()
        while piece and len(unpacked) < most:
            if self._stream.eof:
                if not piece.startswith(b"\x1f\x8b"):  # padding after the end
                    break
                self._stream = zlib.decompressobj(zlib.MAX_WBITS | 16)
            unpacked += self._stream.decompress(piece, most - len(unpacked))
            piece = self._stream.unused_data
        return bytes(unpacked)


def _stream(encoding: str) -> _Deflated | _Gzipped | None:
    match encoding:
        case "" | "identity":
            return None
        case "gzip" | "x-gzip":
            return _Gzipped()
        case "deflate":
            return _Deflated()
        case _:
            raise ToolFailure(
                f"The answer is packed in a way that was not asked for ({encoding[:40]})."
            )
