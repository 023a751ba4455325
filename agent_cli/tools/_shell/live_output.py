"""Shows output while it comes: a few times a second, and never more than a screen is worth."""

from __future__ import annotations

import asyncio
import codecs
from collections.abc import Callable

from agent_cli.lib.bounded_output import without_broken_start
from agent_cli.lib.language import tr

_PAUSE_S = 0.05
_MAX_CHARS_AT_ONCE = 4_096


class LiveOutput:
    """Passes on output as text; a flood is thinned to its latest part."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._pending = bytearray()
        self._skipped = 0
        self._timer: asyncio.TimerHandle | None = None

    def __call__(self, data: bytes) -> None:
        """Take a piece of output."""
        self._pending += data[-_MAX_CHARS_AT_ONCE:]
        excess = len(self._pending) - _MAX_CHARS_AT_ONCE
        self._skipped += max(0, len(data) - _MAX_CHARS_AT_ONCE)
        if excess > 0:
            del self._pending[:excess]
            self._skipped += excess
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_PAUSE_S, self._tick)

    def close(self) -> None:
        """Show the rest, and nothing from now on."""
        if self._timer is not None:
            self._timer.cancel()
            self._tick()
        self._show = lambda _text: None

    def _tick(self) -> None:
        self._timer = None
        data, self._pending = bytes(self._pending), bytearray()
        mark = ""
        if self._skipped:
            self._decoder.reset()
            mark = tr("\n[… {n:,} bytes …]\n", n=self._skipped)
            data, self._skipped = without_broken_start(data), 0
        if text := mark + self._decoder.decode(data):
            self._show(text)
