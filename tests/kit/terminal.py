"""The real program in a real terminal: keys go in, the screen is read as a person would see it."""

import contextlib
import fcntl
import os
import pty
import re
import selectors
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

import pyte

from tests.kit.reading import stands_on

AGENT = (sys.executable, "-m", "agent_cli")
PATIENCE = 90.0
"""Seconds until something that must happen has not happened; a busy machine is slow, not wrong."""
KEYS = {
    "enter": "\r",
    "escape": "\x1b",
    "tab": "\t",
    "shift+tab": "\x1b[Z",
    "backspace": "\x7f",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "end": "\x1b[F",
    "f1": "\x1bOP",
    "alt+enter": "\x1b\r",
    **{f"ctrl+{letter}": chr(ord(letter) - 96) for letter in "abcdefghijklmnopqrstuvwxyz"},
}

_UNREAD = re.compile(rb"\x1b\[(?:<u|[\d;:]*m)")
"""What pyte need not see: it takes the letter that gives the keyboard back for a text, and colours,
which nobody asks it for, take it most of its time."""

Size = tuple[int, int]


class Terminal:
    """A program on a pty. `raw` keeps every byte it wrote, pyte makes a screen of them."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        size: Size = (100, 30),
    ) -> None:
        self.raw = bytearray()
        self._screen = _Screen(*size)
        self._shown: dict[int, str] = {}
        self._stream = pyte.ByteStream(self._screen)
        self._master, slave = pty.openpty()
        self._is_over = False
        _set_size(slave, size)
        try:
            self.process = subprocess.Popen(
                ("setsid", "-c", *argv),  # a session of its own, whose terminal this is
                cwd=cwd,
                env={"TERM": "xterm-256color", "COLORTERM": "truecolor", **env},
                stdin=slave,
                stdout=slave,
                stderr=slave,
            )
        finally:
            os.close(slave)
        os.set_blocking(self._master, False)
        self._ready = selectors.DefaultSelector()
        self._ready.register(self._master, selectors.EVENT_READ)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ── what goes in ─────────────────────────────────────────────────────────────────────────────

    def send(self, text: str) -> None:
        """Type or paste as it is; what the program writes meanwhile is read, so nothing blocks."""
        left = text.encode("utf-8", "replace")
        deadline = time.monotonic() + PATIENCE
        while left:
            try:
                left = left[os.write(self._master, left[:4096]) :]
            except BlockingIOError:
                assert time.monotonic() < deadline, "the program does not read its input"
                self.read(0.01)

    def press(self, *names: str) -> None:
        """Press keys by name."""
        for name in names:
            self.send(KEYS[name])

    def paste(self, text: str) -> None:
        """Paste as terminals do."""
        self.send(f"\x1b[200~{text}\x1b[201~")

    def resize(self, columns: int, lines: int) -> None:
        """Make the window another size."""
        while self.read():
            pass
        self._screen.resize(lines, columns)
        _set_size(self._master, (columns, lines))

    # ── what comes out ───────────────────────────────────────────────────────────────────────────

    def read(self, seconds: float = 0.0) -> bool:
        """Take in what the program has written, waiting so long for more; whether there was any."""
        if self._is_over or not self._ready.select(seconds):
            return False
        try:
            data = os.read(self._master, 1 << 20)
        except BlockingIOError:
            return False
        except OSError:  # the last process with the terminal open is gone
            data = b""
        if not data:
            self._is_over = True
            return False
        self.raw += data
        self._stream.feed(_UNREAD.sub(b"", data))
        return True

    def lines(self) -> list[str]:
        """The screen as it is now; a wide character is one character."""
        while self.read():
            pass
        self._refresh()
        return [self._shown[row] for row in range(self._screen.lines)]

    def _refresh(self) -> None:
        """Read the lines again that were written to since the last time; pyte is slow."""
        for row in self._screen.dirty:
            self._shown[row] = _line(self._screen, row)
        self._screen.dirty.clear()

    def cells(self) -> list[list[str]]:
        """The screen cell by cell; behind a wide character stands an empty one."""
        self.lines()
        held = self._screen.buffer
        columns = range(self._screen.columns)
        return [[held[row][column].data for column in columns] for row in range(self._screen.lines)]

    def text(self) -> str:
        """The screen as one text."""
        return "\n".join(line.rstrip() for line in self.lines())

    def wait_until(self, holds: Callable[[str], object], timeout: float = PATIENCE) -> str:
        """Wait for the screen to look a certain way; returns it."""
        deadline = time.monotonic() + timeout
        while not holds(shown := self.text()):
            if self._is_over or time.monotonic() > deadline:
                why = "the program is over" if self._is_over else "it did not come in time"
                raise AssertionError(f"{why}; the screen:\n{shown}")
            self.read(0.05)
        return shown

    def wait_for(self, *texts: str, timeout: float = PATIENCE) -> str:
        """Wait until all of these stand on the screen; returns it."""
        try:
            return self.wait_until(
                lambda shown: all(stands_on(shown, text) for text in texts), timeout
            )
        except AssertionError as error:
            raise AssertionError(f"no {texts}: {error}") from None

    def let_pass(self, seconds: float) -> None:
        """Take in what comes for a while, as somebody does who only looks."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and not self._is_over:
            self.read(left)

    def wait_gone(self, text: str, timeout: float = PATIENCE) -> str:
        """Wait until this no longer stands on the screen."""
        return self.wait_until(lambda shown: text not in shown, timeout)

    def wait_end(self, timeout: float = PATIENCE) -> int:
        """Wait for the program to end; its exit code."""
        deadline = time.monotonic() + timeout
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"it does not end; the screen:\n{self.text()}"
            self.read(0.05)
        while self.read(0.05):
            pass
        return self.process.returncode

    @property
    def cursor(self) -> tuple[int, int]:
        """Column and line of the cursor."""
        return self._screen.cursor.x, self._screen.cursor.y

    @property
    def modes_left_on(self) -> set[str]:
        """The private modes that were set and not reset: "?1049" is the alternate screen."""
        return set(self._screen.private)

    @property
    def shows_cursor(self) -> bool:
        return not self._screen.cursor.hidden

    def local_modes(self) -> int:
        """The terminal driver's local modes (echo, line editing, signals)."""
        return int(termios.tcgetattr(self._master)[3])

    def hang_up(self) -> None:
        """Take the terminal away, as closing its window does."""
        self._ready.close()
        os.close(self._master)
        self._is_over = True
        self.process.wait(PATIENCE)

    def close(self) -> None:
        """End the program and everything in its terminal."""
        for each in _in_session(self.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._ready.close()
        with contextlib.suppress(OSError):
            os.close(self._master)


class _Screen(pyte.Screen):
    """pyte's screen, deaf to what it would misread, and with the private modes kept by number."""

    def __init__(self, columns: int, lines: int) -> None:
        self.private: set[str] = set()
        super().__init__(columns, lines)

    def set_mode(self, *modes: int, private: bool = False, **_: object) -> None:
        if private:
            self.private |= {f"?{mode}" for mode in modes}
        super().set_mode(*modes, private=private)

    def reset_mode(self, *modes: int, private: bool = False, **_: object) -> None:
        if private:
            self.private -= {f"?{mode}" for mode in modes}
        super().reset_mode(*modes, private=private)

    def select_graphic_rendition(self, *attributes: int, **kwargs: object) -> None:
        if not kwargs:  # `CSI > … m` sets keyboard modes, it is no colour
            super().select_graphic_rendition(*attributes)

    def report_device_status(self, mode: int = 0, **kwargs: object) -> None:
        """Queries stay without an answer."""

    def report_device_attributes(self, mode: int = 0, **kwargs: object) -> None:
        """Queries stay without an answer."""


def _line(screen: pyte.Screen, row: int) -> str:
    held = screen.buffer[row]
    return "".join(held[column].data for column in range(screen.columns))


def _set_size(descriptor: int, size: Size) -> None:
    columns, lines = size
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


def _in_session(session: int) -> list[int]:
    """The processes of a terminal session."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) == session:
                    found.append(int(entry.name))
    return found
