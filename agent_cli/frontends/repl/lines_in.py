"""Lines from standard input, each with the time it came in."""

import asyncio
import codecs
import os
import select
import termios
import threading
import time
from collections.abc import Callable

Taker = Callable[[str | None, float], None]
"""Gets each line and when it came; None when there will be no more."""


class LinesIn:
    """Reads a terminal in its own line mode, a pipe or a file."""

    def __init__(self, descriptor: int, take: Taker) -> None:
        self._descriptor = descriptor
        self._take = take
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._begun = ""
        self.is_terminal = os.isatty(descriptor)

    def start(self) -> None:
        """Begin to read."""
        loop = asyncio.get_running_loop()
        if self.is_terminal:
            loop.add_reader(self._descriptor, self._readable)
        else:  # a file cannot be waited for
            threading.Thread(target=self._read_all, args=(loop,), daemon=True).start()

    def stop(self) -> None:
        """Read no more."""
        if self.is_terminal:
            asyncio.get_running_loop().remove_reader(self._descriptor)

    def take_unfinished(self) -> str:
        """What was typed of a line that is not sent yet; whole lines go their usual way."""
        if self.is_terminal:
            self._feed(_pending(self._descriptor))
        begun, self._begun = self._begun, ""
        return begun

    def _readable(self) -> None:
        try:
            data = os.read(self._descriptor, 65_536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.stop()
            self._take(None, time.monotonic())
            return
        self._feed(data)

    def _read_all(self, loop: asyncio.AbstractEventLoop) -> None:
        while data := os.read(self._descriptor, 65_536):
            loop.call_soon_threadsafe(self._feed, data)
        loop.call_soon_threadsafe(self._end)

    def _end(self) -> None:
        if self._begun:
            self._take(self._begun, time.monotonic())
        self._take(None, time.monotonic())

    def _feed(self, data: bytes) -> None:
        now = time.monotonic()
        *lines, self._begun = (self._begun + self._decoder.decode(data)).split("\n")
        for line in lines:
            self._take(line.removesuffix("\r"), now)


def _pending(descriptor: int) -> bytes:
    """Everything that was typed, line or not: out of its line mode the terminal gives it."""
    before = termios.tcgetattr(descriptor)
    at_once = termios.tcgetattr(descriptor)
    at_once[3] &= ~termios.ICANON
    at_once[6][termios.VMIN], at_once[6][termios.VTIME] = 0, 0
    termios.tcsetattr(descriptor, termios.TCSANOW, at_once)
    try:
        found = b""
        while select.select([descriptor], [], [], 0)[0]:
            data = os.read(descriptor, 65_536)
            if not data:
                break
            found += data
        return found
    finally:
        termios.tcsetattr(descriptor, termios.TCSANOW, before)
