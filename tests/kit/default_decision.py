"""The decision of the default mode without any rules, for tests and for explaining a command."""

from typing import Literal

from agent_cli.safety.shell.shell_facts import ShellFacts


def default_effect(facts: ShellFacts) -> Literal["allow", "ask", "deny"]:
    """Deny the catastrophic, allow what is proven without a sandbox, ask about all else."""
    if facts.catastrophic:
        return "deny"
    if facts.unproven or facts.sensitive or facts.needs_sandbox:
        return "ask"
    return "allow"
