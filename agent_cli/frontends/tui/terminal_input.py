"""Textual's driver with an input that is quick with long pastes and knows Alt+Enter everywhere.

Measured with Textual 8.2: its parser needs about five microseconds for each character of a paste,
half a minute for 5 MB on a busy machine; escape sequences within a paste become keys; a byte that
is no UTF-8 ends the app. When the terminal goes away, the thread that writes to it ends, and
whoever has more to write waits for it for ever: the program would stay, unseen.
"""

import contextlib
import os
import re
import selectors
import signal
import sys
import termios
import time
from codecs import getincrementaldecoder
from collections.abc import Generator, Iterable
from fcntl import ioctl
from typing import IO, Any, cast

from textual import events
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

_START, _END = "\x1b[200~", "\x1b[201~"
_CUT_START = re.compile(r"\x1b(?:\[(?:2(?:00?)?)?)?\Z")
_TEXT = re.compile(r"[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]+")
_SEQUENCE_TIMEOUT_S = 0.02
_ONE_READ = 65_536
MIN_PASTE_CHARS = 500
"""That come at once; typed one by one, a long text would take minutes."""


class InputParser(XTermParser):
    """Collects a paste whole, where the parser it extends goes through it letter by letter."""

    def __init__(self, debug: bool = False) -> None:  # noqa: FBT001, FBT002 - as it is called
        super().__init__(debug)
        self._pasted: list[str] | None = None
        self._tail = ""
        self._cut = ""
        self._cut_at = 0.0

    def feed(self, data: str) -> Iterable[Message]:
        if not data:
            yield from super().feed(self._cut or data)
            return
        data, self._cut = self._cut + data, ""
        while data:
            if self._pasted is not None:
                data = yield from self._collect(data)
                continue
            before, start, data = data.partition(_START)
            if start:
                self._pasted = []
            elif cut := _CUT_START.search(before):
                # The mark may be cut in two by a read. The parser below must never see a part of
                # it: what stands in a paste it would take for keys.
                before, self._cut, self._cut_at = before[: cut.start()], cut[0], time.monotonic()
            if before:
                yield from self._feed_keys(before)

    def _feed_keys(self, text: str) -> Iterable[Message]:
        """What nobody types that fast is a paste of a terminal that doesn't mark pastes."""
        body = text.rstrip("\r\n")
        if len(body) >= MIN_PASTE_CHARS and _TEXT.fullmatch(body) and not self.is_waiting:
            yield events.Paste(body)
            text = text[len(body) :]
        if text:
            yield from super().feed(text)

    @property
    def is_waiting(self) -> bool:
        """Whether time alone will tell what was pressed."""
        return bool(self._cut) or self._timeout_time is not None

    def tick(self) -> Iterable[Message]:
        if self._cut and time.monotonic() - self._cut_at > _SEQUENCE_TIMEOUT_S:
            cut, self._cut = self._cut, ""
            yield from super().feed(cut)
        yield from super().tick()

    def _collect(self, data: str) -> Generator[Message, None, str]:
        assert self._pasted is not None
        text, end, rest = (self._tail + data).partition(_END)
        if not end:
            kept = len(text) - len(_END) + 1
            self._tail = text[max(kept, 0) :]
            self._pasted.append(text[: max(kept, 0)])
            return ""
        self._pasted.append(text)
        pasted, self._pasted, self._tail = "".join(self._pasted), None, ""
        yield events.Paste(pasted.replace("\x00", ""))
        return rest

    def _sequence_to_key_events(
        self,
        sequence: str,
        alt: bool = False,  # noqa: FBT001, FBT002 - as it is called
    ) -> Iterable[events.Key]:
        # Terminals without the newer keyboard protocol send Escape and Return for Alt+Enter.
        if sequence in ("\x1b\r", "\x1b\n"):
            yield events.Key("alt+enter", None)
            return
        yield from super()._sequence_to_key_events(sequence, alt)


class _Forgiving:
    """A terminal's file that takes what is written to it even when nobody is there any more."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        try:
            return self._file.write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            self._file.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


class TerminalDriver(LinuxDriver):
    """For `App(driver_class=…)`."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._file = cast(Any, _Forgiving(cast(IO[str], self._file)))

    def run_input_thread(self) -> None:
        """Read until the driver is told to end, or there is nothing to read from any more."""
        parser = InputParser(self._debug)
        decode = getincrementaldecoder("utf-8")("replace").decode
        early = self._count_waiting()
        with selectors.DefaultSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            while not self.exit_event.is_set():
                if selector.select(_SEQUENCE_TIMEOUT_S if parser.is_waiting else 0.1):
                    read = self._read()
                    if not read:
                        self._loop.call_soon_threadsafe(self._app.exit, 128 + signal.SIGHUP)
                        return
                    # Before the program had the terminal to itself, Enter came as a line feed.
                    read = read[:early].replace(b"\n", b"\r") + read[early:]
                    early = max(0, early - len(read))
                    if text := decode(read):  # else it is half a character
                        self._dispatch(parser.feed(text))
                self._dispatch(parser.tick())

    def _count_waiting(self) -> int:
        """How many bytes were typed before anybody read."""
        try:
            return int.from_bytes(ioctl(self.fileno, termios.FIONREAD, bytes(4)), sys.byteorder)
        except OSError:
            return 0

    def _read(self) -> bytes:
        """What was typed; nothing if the terminal is gone."""
        try:
            return os.read(self.fileno, _ONE_READ)
        except OSError:
            return b""

    def _dispatch(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self.process_message(message)
