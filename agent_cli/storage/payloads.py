"""Long texts beside a session's log: one private file each, named by what is in it."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent_cli.lib.files import open_regular, private_directory, write_atomic

MAX_BYTES = 64 * 1024
"""Bytes of one text that stand in the log itself."""
GONE = "[This text was kept in a file of its own, and the file is gone.]"

Address = list[str | int]
"""The keys and positions that lead to a text."""


class Payloads:
    """The side files of one session. The same text is kept once."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def take_out(self, data: dict[str, Any]) -> list[tuple[Address, str]]:
        """Move long texts out of JSON data into files; returns where they stood, and their hashes.

        Raises OSError if one cannot be written.
        """
        taken: list[tuple[Address, str]] = []
        for address, text in list(_long_texts(data, [])):
            content = text.encode("utf-8", "replace")
            digest = hashlib.sha256(content).hexdigest()
            file = self._directory / digest
            if not file.exists():
                private_directory(self._directory)
                write_atomic(file, content, mode=0o600)
            _put(data, address, "")
            taken.append((address, digest))
        return taken

    def put_back(self, data: dict[str, Any], taken: object) -> None:
        """Put the texts where they stood; one whose file is gone is replaced by a note."""
        if not isinstance(taken, list):
            return
        for address, digest in taken:
            _put(data, address, self._read(str(digest)))

    def _read(self, digest: str) -> str:
        if not (len(digest) == 64 and digest.isalnum()):
            return GONE
        try:
            with os.fdopen(open_regular(self._directory / digest), "rb") as file:
                return file.read().decode("utf-8", "replace")
        except OSError:
            return GONE


def _long_texts(value: object, address: Address) -> Iterator[tuple[Address, str]]:
    if isinstance(value, str):
        # A character has at most four bytes: most texts need not be encoded to be measured.
        if len(value) * 4 > MAX_BYTES and len(value.encode("utf-8", "replace")) > MAX_BYTES:
            yield address, value
    elif isinstance(value, dict):
        for key, held in value.items():
            yield from _long_texts(held, [*address, key])
    elif isinstance(value, list):
        for number, held in enumerate(value):
            yield from _long_texts(held, [*address, number])


def _put(data: Any, address: Address, text: str) -> None:
    for step in address[:-1]:
        data = data[step]
    data[address[-1]] = text
