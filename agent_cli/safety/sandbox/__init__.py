"""The room that commands run in: what they can write, read and reach, enforced by the kernel."""

from agent_cli.safety.sandbox.blocked import was_blocked
from agent_cli.safety.sandbox.confinement import Confinement, confinement_for
from agent_cli.safety.sandbox.sandbox_choice import SandboxChoice
from agent_cli.safety.sandbox.tiers import (
    Room,
    Sandbox,
    SandboxUnavailable,
    Setting,
    Tier,
    find_sandbox,
)

__all__ = [
    "Confinement",
    "Room",
    "Sandbox",
    "SandboxChoice",
    "SandboxUnavailable",
    "Setting",
    "Tier",
    "confinement_for",
    "find_sandbox",
    "was_blocked",
]
