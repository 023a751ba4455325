"""The decision of the default mode without any rules, for tests and for explaining a command."""

from typing import Literal

from agent_cli.safety.shell.shell_facts import ShellFacts


def default_effect(facts: ShellFacts) -> Literal["allow", "ask", "deny"]:
    """Deny the catastrophic, allow the proven, ask about everything else."""
    if facts.catastrophic:
        return "deny"
    if facts.unproven or facts.sensitive:
        return "ask"
    return "allow"
