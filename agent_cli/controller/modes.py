"""The permission modes a user goes through."""

from agent_cli.core.policy import Mode

MODES = (Mode.DEFAULT, Mode.ACCEPT_EDITS, Mode.PLAN, Mode.AUTO)
"""Those that Shift+Tab goes through; yolo is asked for by name."""


def mode_after(mode: Mode) -> Mode:
    """The one that Shift+Tab changes to."""
    at = MODES.index(mode) if mode in MODES else -1
    return MODES[(at + 1) % len(MODES)]
