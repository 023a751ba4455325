"""The room that commands run in: what they can write, read and reach, enforced by the kernel."""

from agent_cli.safety.sandbox.blocked import was_blocked
from agent_cli.safety.sandbox.confinement import Confinement, Profile, confinement_for
from agent_cli.safety.sandbox.protected_files import (
    KeptFile,
    PathDifference,
    Picture,
    find_differences,
    repeat,
    restore,
    take_picture,
)
from agent_cli.safety.sandbox.reading import reading_confinement
from agent_cli.safety.sandbox.sandbox_choice import SandboxChoice
from agent_cli.safety.sandbox.sensitive_files import SensitiveFiles, SensitiveFinder
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
    "KeptFile",
    "Launch",
    "PathDifference",
    "Picture",
    "Process",
    "Profile",
    "Room",
    "Sandbox",
    "SandboxChoice",
    "SandboxUnavailable",
    "SensitiveFiles",
    "SensitiveFinder",
    "Setting",
    "Tier",
    "confinement_for",
    "find_differences",
    "find_sandbox",
    "reading_confinement",
    "repeat",
    "restore",
    "start",
    "take_picture",
    "was_blocked",
]
