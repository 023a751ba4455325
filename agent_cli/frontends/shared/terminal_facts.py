"""What the terminal can do, as far as its environment tells."""

import os
from collections.abc import Mapping

from agent_cli.frontends.shared.signs import ASCII, EMOJI, PLAIN, Signs

_WITHOUT_SCREEN = {"", "dumb", "unknown", "network", "plugboard"}
_WELL_KNOWN = ("xterm", "screen", "tmux", "rxvt", "alacritty", "foot", "linux", "st-")
"""Their descriptions need not be looked up."""
_WITHOUT_EMOJI = {"linux", "vt100", "vt102", "vt220", "cons25"}


def moves_cursor(environment: Mapping[str, str]) -> bool:
    """Whether text can be placed anywhere on the screen."""
    term = environment.get("TERM", "")
    if term in _WITHOUT_SCREEN:
        return False
    if term.startswith(_WELL_KNOWN):
        return True
    try:
        import curses  # noqa: PLC0415 (not part of every Python)
    except ImportError:
        return True
    nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    try:
        curses.setupterm(term, nowhere)
    except curses.error:
        return True  # nobody described it; most terminals can
    finally:
        os.close(nowhere)
    return bool(curses.tigetstr("cup"))


def speaks_utf8(environment: Mapping[str, str]) -> bool:
    """Whether the locale promises that every character can be shown."""
    given = (environment.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG"))
    locale = next((value for value in given if value), "")
    return locale.replace("-", "").lower().endswith("utf8")


def signs_for(environment: Mapping[str, str]) -> Signs:
    """The signs this terminal can show."""
    if not speaks_utf8(environment):
        return ASCII
    return PLAIN if environment.get("TERM", "") in _WITHOUT_EMOJI else EMOJI
