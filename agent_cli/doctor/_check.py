"""What a check is, what it is given, and what it finds."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agent_cli.config.user_directories import Directories

Verdict = Literal["ok", "warning", "problem", "skipped"]


@dataclass(frozen=True)
class CheckContext:
    """What is examined."""

    environment: Mapping[str, str]
    cwd: Path
    offline: bool = False
    """Whether no request may be sent."""
    is_terminal: bool = False
    """Whether there is a terminal to query."""

    @property
    def places(self) -> Directories:
        """Where our own files live."""
        return Directories.of(self.environment)


@dataclass(frozen=True)
class Finding:
    """What one check found. A problem keeps the program from working; a warning does not."""

    verdict: Verdict
    measured: str
    """What was found."""
    expected: str = ""
    """What it should be, where it is not."""
    cause: str = ""
    """Why it is as it is, as far as that is known."""
    remedy: str = ""
    """What to do about it."""


@dataclass(frozen=True)
class Check:
    """One thing to check."""

    group: str
    name: str
    run: Callable[[CheckContext], Finding] | Callable[[CheckContext], Awaitable[Finding]]
    seconds: float = 5.0
    """How long it may take."""


def ok(measured: str) -> Finding:
    """Nothing to do."""
    return Finding("ok", measured)


def skip(why: str) -> Finding:
    """It was not checked."""
    return Finding("skipped", why)
