"""Slash commands, the same for every view: one file, one `COMMAND`."""

import sys

from agent_cli.controller.slash_command import Command
from agent_cli.lib.discovery import values_named


def all_commands() -> list[Command]:
    """Every slash command, by name."""
    return list(values_named("COMMAND", sys.modules[__name__]))
