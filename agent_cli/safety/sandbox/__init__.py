"""The room that commands run in: what they can write, read and reach, enforced by the kernel."""

from agent_cli.safety.sandbox.blocked import was_blocked
from agent_cli.safety.sandbox.confinement import Confinement, Profile, confinement_for
from agent_cli.safety.sandbox.reading import reading_confinement
from agent_cli.safety.sandbox.sandbox_choice import SandboxChoice
from agent_cli.safety.sandbox.secret_files import SecretFiles, SecretFinder
from agent_cli.safety.sandbox.starting import ForkServer, Launch, Process, start
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
    "ForkServer",
    "Launch",
    "Process",
    "Profile",
    "Room",
    "Sandbox",
    "SandboxChoice",
    "SandboxUnavailable",
    "SecretFiles",
    "SecretFinder",
    "Setting",
    "Tier",
    "confinement_for",
    "find_sandbox",
    "reading_confinement",
    "start",
    "was_blocked",
]
