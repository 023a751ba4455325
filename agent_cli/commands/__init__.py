"""Slash commands, the same for every view: each is a function with `@slash_command`."""

import sys

from agent_cli.controller.slash_command import Command
from agent_cli.lib.discovery import modules_of


def all_commands() -> list[Command]:
    """Every slash command, by name."""
    modules = modules_of(sys.modules[__name__])
    found = (each for module in modules for each in vars(module).values())
    return sorted((each for each in found if isinstance(each, Command)), key=lambda c: c.name)
