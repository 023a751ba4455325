"""The terminal: what the environment says about it, and what it answers."""

import os
import re
import select
import subprocess
import sys
import termios
import time
import tty

from agent_cli.doctor._check import Check, CheckContext, Finding, ok, skip
from agent_cli.frontends.shared.terminal_facts import moves_cursor, speaks_utf8
from agent_cli.lib.find_program import find_program
from agent_cli.lib.language import mark, tr

_MIN_SIZE = (60, 15)
_NOT_HERE = mark("not a terminal")
_TIMEOUT_S = 0.5
_PLACE = re.compile(rb"\x1b\[(\d+);(\d+)R")
_KITTY = re.compile(rb"\x1b\[\?(\d+)u")
_ATTRIBUTES = re.compile(rb"\x1b\[\?[\d;]*c")


def size(patient: CheckContext) -> Finding:
    """Whether there is room to work."""
    if not patient.is_terminal:
        return skip(tr(_NOT_HERE))
    columns, lines = os.get_terminal_size(sys.stdout.fileno())
    measured = f"{columns} × {lines}"
    if columns >= _MIN_SIZE[0] and lines >= _MIN_SIZE[1]:
        return ok(measured)
    return Finding(
        "warning", measured,
        tr("at least {columns} × {lines}", columns=_MIN_SIZE[0], lines=_MIN_SIZE[1]),
        remedy=tr("Make the window larger, or use agent --inline."),
    )  # fmt: skip


def full_screen(patient: CheckContext) -> Finding:
    """Whether the cursor can be moved."""
    term = patient.environment.get("TERM", "")
    if moves_cursor(patient.environment):
        return ok(f"TERM={term}")
    return Finding(
        "warning", f"TERM={term}" if term else tr("TERM=(not set)"),
        tr("a terminal that can move its cursor"),
        cause=tr("the terminal named by TERM can't"),
        remedy=tr("The program falls back to plain lines, which works."),
    )  # fmt: skip


def colours(patient: CheckContext) -> Finding:
    """How many colours there are."""
    environment = patient.environment
    if environment.get("NO_COLOR"):
        return ok(tr("off (NO_COLOR is set)"))
    if environment.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return ok(tr("16 million"))
    term = environment.get("TERM", "")
    if "256color" in term or "kitty" in term or "direct" in term:
        return ok("256")
    return Finding(
        "warning", tr("16 or fewer"), tr("256 or more"),
        cause=tr("TERM={term}, and COLORTERM is not set", term=term),
        remedy=tr("If your terminal has more, set TERM=xterm-256color or COLORTERM=truecolor."),
    )  # fmt: skip


def characters(patient: CheckContext) -> Finding:
    """Whether any character can be shown."""
    if speaks_utf8(patient.environment):
        return ok("UTF-8")
    return Finding(
        "warning", tr("not UTF-8"), tr("a UTF-8 locale"),
        cause=tr("LC_ALL, LC_CTYPE and LANG don't set one"),
        remedy=tr("Set LANG=C.UTF-8, or your language's UTF-8 locale."),
    )  # fmt: skip


def wide_characters(patient: CheckContext) -> Finding:
    """Whether Chinese characters and emoji take two cells, by drawing them and asking where
    the cursor is."""
    if not patient.is_terminal or not moves_cursor(patient.environment):
        return skip(tr(_NOT_HERE))
    widths = {sign: _width_of(sign) for sign in ("你", "✅", "⏳")}
    if None in widths.values():
        return skip(tr("the terminal doesn't report its cursor position"))
    listed = ", ".join(f"{sign} {width}" for sign, width in widths.items())
    measured = tr("{widths} cells", widths=listed)
    if all(width == 2 for width in widths.values()):
        return ok(measured)
    return Finding(
        "warning", measured, tr("2 cells each"),
        cause=tr("the terminal or its font draws them narrow"),
        remedy=tr("Columns may be misaligned. Try another terminal or font."),
    )  # fmt: skip


def keys(patient: CheckContext) -> Finding:
    """Whether Shift+Enter can be told from Enter."""
    if not patient.is_terminal or not moves_cursor(patient.environment):
        return skip(tr(_NOT_HERE))
    answer = _ask(b"\x1b[?u\x1b[c", _ATTRIBUTES)
    if _KITTY.search(answer):
        return ok(tr("kitty keyboard protocol: Shift+Enter inserts a new line"))
    return ok(tr("standard: Alt+Enter or Ctrl+J inserts a new line"))


def clipboard(patient: CheckContext) -> Finding:
    """How copied text leaves the program."""
    if patient.environment.get("TMUX") and (tmux := find_program("tmux")):
        told = subprocess.run(
            [tmux, "show", "-gv", "set-clipboard"],
            capture_output=True, text=True, timeout=2, check=False,
        ).stdout.strip()  # fmt: skip
        if told == "off":
            return Finding(
                "warning", "tmux set-clipboard off", tr("on or external"),
                cause=tr("tmux keeps copied text to itself"),
                remedy=tr("Run tmux set -g set-clipboard on"),
            )  # fmt: skip
        return ok(tr("via tmux (set-clipboard {state})", state=told or tr("unknown")))
    if not patient.is_terminal:
        return skip(tr(_NOT_HERE))
    return ok(tr("via the terminal (OSC 52), if it allows that"))


def _width_of(sign: str) -> int | None:
    found = _PLACE.search(_ask(f"\r{sign}\x1b[6n\r\x1b[2K".encode(), _PLACE))
    return int(found[2]) - 1 if found else None


def _ask(question: bytes, until: re.Pattern[bytes]) -> bytes:
    """What the terminal answers; nothing, if it does not in time."""
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    tty.setcbreak(descriptor, termios.TCSANOW)
    answer = b""
    try:
        os.write(sys.stdout.fileno(), question)
        deadline = time.monotonic() + _TIMEOUT_S
        while not until.search(answer):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([descriptor], [], [], left)[0]:
                break
            answer += os.read(descriptor, 1024)
    finally:
        termios.tcsetattr(descriptor, termios.TCSANOW, before)
    return answer


CHECKS = (
    Check("terminal", mark("size"), size),
    Check("terminal", mark("full screen"), full_screen),
    Check("terminal", mark("colours"), colours),
    Check("terminal", mark("characters"), characters),
    Check("terminal", mark("wide characters"), wide_characters),
    Check("terminal", mark("keyboard"), keys),
    Check("terminal", mark("clipboard"), clipboard),
)
