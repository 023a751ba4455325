"""What the command line asks for; it needs nothing of ours, so that the screen can come first."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """What the command line asks for."""

    cwd: Path
    added: tuple[Path, ...] = ()
    trust: bool = False
    """Trust the folder for this run, whatever is stored about it."""
    tools: tuple[str, ...] | None = None
    """The only tools to use; None: all."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings given as flags, nested like the configuration."""
    system_prompt: str | None = None
    appended_prompt: str | None = None
    attended: bool = True
    """Whether somebody can be asked."""
