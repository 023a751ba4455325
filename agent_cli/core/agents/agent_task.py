"""Work that one agent hands to another, and what comes back."""

from dataclasses import dataclass

from agent_cli.core.model import Usage

CATEGORY = "delegation"
"""Of tools that send agents."""


@dataclass(frozen=True)
class AgentTask:
    """What another agent is to do."""

    profile: str
    prompt: str
    """All that it knows of the matter."""


@dataclass(frozen=True, kw_only=True)
class AgentReport:
    """What came of a task."""

    text: str
    """The agent's last words."""
    error: str = ""
    """Why it ended before it was done; empty: it is done."""
    calls: int = 0
    usage: Usage = Usage()
