"""What can be asked for besides a turn: slash commands, modes, shell commands of one's own."""

from collections.abc import Iterator, Sequence

from agent_cli import commands
from agent_cli.commands._command import Command
from agent_cli.core.permissions import Mode
from agent_cli.lib.discovery import values_named

SHELL = "Bash"
"""The tool that runs the person's own commands."""
OWN_OPTIONS = {"timeout": 600_000}
"""A person waits as long as they like, and knows how to interrupt."""
MODES = (Mode.DEFAULT, Mode.ACCEPT_EDITS, Mode.PLAN, Mode.AUTO)
"""Those that Shift+Tab goes through; yolo is asked for by name."""


def all_commands() -> list[Command]:
    """Every slash command, by name."""
    return list(values_named("COMMAND", commands))


def matching(listed: Sequence[Command], typed: str) -> Iterator[Command]:
    """The commands that begin with what was typed, then those that contain it."""
    typed = typed.lower()
    begins = [command for command in listed if command.name.startswith(typed)]
    yield from begins
    yield from (c for c in listed if typed in c.name and c not in begins)
