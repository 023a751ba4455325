"""Analysis of shell commands: what they run, what they touch, whether they only read."""

from agent_cli.safety.shell.analysis import analyse, bash_accepts
from agent_cli.safety.shell.disk import place_on_disk
from agent_cli.safety.shell.rule_proposals import REST, matches_rest, propose_rule
from agent_cli.safety.shell.shell_facts import Destruction, ShellContext, ShellFacts, SimpleCommand
from agent_cli.safety.shell.table import starts

__all__ = [
    "REST",
    "Destruction",
    "ShellContext",
    "ShellFacts",
    "SimpleCommand",
    "analyse",
    "bash_accepts",
    "matches_rest",
    "place_on_disk",
    "propose_rule",
    "starts",
]
