"""Analysis of shell commands: what they run, what they touch, whether they only read."""

from agent_cli.safety.shell.analysis import analyse, bash_accepts, odd_characters
from agent_cli.safety.shell.facts import Destruction, Place, ShellFacts, SimpleCommand
from agent_cli.safety.shell.reference import default_effect

__all__ = [
    "Destruction",
    "Place",
    "ShellFacts",
    "SimpleCommand",
    "analyse",
    "bash_accepts",
    "default_effect",
    "odd_characters",
]
