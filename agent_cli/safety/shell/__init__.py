"""Analysis of shell commands: what they run, what they touch, whether they only read."""

from agent_cli.safety.shell.analysis import analyse, bash_accepts, odd_characters
from agent_cli.safety.shell.default_decision import default_effect
from agent_cli.safety.shell.disk import place_on_disk
from agent_cli.safety.shell.lasting_effects import PROBE as SHELL_PROBE
from agent_cli.safety.shell.lasting_effects import taints_shell
from agent_cli.safety.shell.rule_proposals import propose_rule
from agent_cli.safety.shell.shell_facts import Destruction, ShellContext, ShellFacts, SimpleCommand
from agent_cli.safety.shell.table import starts

__all__ = [
    "SHELL_PROBE",
    "Destruction",
    "ShellContext",
    "ShellFacts",
    "SimpleCommand",
    "analyse",
    "bash_accepts",
    "default_effect",
    "odd_characters",
    "place_on_disk",
    "propose_rule",
    "starts",
    "taints_shell",
]
