"""The pieces of a reply that is still arriving, so that a crash loses nothing that was shown."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from agent_cli.core.events import TextDelta, ThinkingDelta


@dataclass(frozen=True)
class RecoveredPieces:
    """What was found of a reply that never became an entry."""

    after: str
    """The entry the reply followed."""
    thinking: str
    text: str


class PartialReply:
    """A file that grows by one line for each piece and is emptied when the reply is whole."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd: int | None = None
        self._after: str | None = None

    def add(self, delta: TextDelta | ThinkingDelta, after: str) -> None:
        """Keep a piece; raises OSError."""
        lines = [] if self._after else [{"after": after}]
        lines.append({delta.type: delta.text})
        data = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        os.write(self._file(), data.encode("utf-8", "replace"))
        self._after = after

    def empty(self) -> None:
        """Forget the pieces; raises OSError."""
        if self._after:
            os.ftruncate(self._file(), 0)
            self._after = None

    def close(self) -> None:
        """Let go of the file, which stays only if pieces are in it."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
            if not self._after:
                self._path.unlink(missing_ok=True)

    def _file(self) -> int:
        if self._fd is None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            self._fd = os.open(self._path, flags, 0o600)
        return self._fd


def read_pieces(path: Path) -> RecoveredPieces | None:
    """What a program that was killed had shown of a reply."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:
        return None
    after = ""
    told: dict[str, list[str]] = {"thinking_delta": [], "text_delta": []}
    for line in lines:
        try:
            piece = json.loads(line)
        except ValueError:
            continue  # half a line, or the end
        if not isinstance(piece, dict):
            continue
        after = str(piece.get("after", after))
        for kind, texts in told.items():
            if isinstance(text := piece.get(kind), str):
                texts.append(text)
    thinking, text = ("".join(texts) for texts in told.values())
    return RecoveredPieces(after, thinking, text) if after and (thinking or text) else None
