"""What the command line asks for; imports nothing of ours, so that the screen comes first."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple


class FoundSession(NamedTuple):
    """A session on this machine."""

    id: str
    workspace: str
    """The directory it was in."""
    model: str


@dataclass(frozen=True)
class Resume:
    """A session to resume."""

    text: str = ""
    """An id, the beginning of one, or words; empty: the latest session of the directory."""
    ask: bool = False
    """Let the user choose."""
    fork: bool = False
    """Resume a copy."""
    stay: bool = False
    """Work in the directory that was named, wherever the session was."""
    found: FoundSession | None = None
    """Which one it is, once that is known."""


@dataclass(frozen=True, kw_only=True)
class LaunchOptions:
    """What the command line asks for."""

    cwd: Path
    added: tuple[Path, ...] = ()
    trust: bool = False
    """Trust the folder for this run, whatever is stored about it."""
    tools: tuple[str, ...] | None = None
    """The only tools to use; None: all."""
    profile: str = ""
    """The profile to use; empty: the default one."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings given as flags, nested like the configuration."""
    system_prompt: str | None = None
    appended_prompt: str | None = None
    attended: bool = True
    """Whether somebody can be asked."""
    resume: Resume | None = None
    """The session to resume; None: a new one."""
