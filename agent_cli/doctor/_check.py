"""What a check is, what it is given, and what it finds."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Literal

from agent_cli.config.places import Places

Verdict = Literal["ok", "warning", "problem", "skipped"]


@dataclass(frozen=True)
class Patient:
    """What is looked at."""

    environment: Mapping[str, str]
    cwd: Path
    offline: bool = False
    """Whether no request may be made."""
    is_terminal: bool = False
    """Whether somebody looks at a terminal that can be asked."""

    @property
    def places(self) -> Places:
        """Where our own files live."""
        return Places.of(self.environment)


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
    """One thing to look at."""

    group: str
    name: str
    run: Callable[[Patient], Finding] | Callable[[Patient], Awaitable[Finding]]
    seconds: float = 5.0
    """Until it must be done."""


def ok(measured: str) -> Finding:
    """Nothing to do."""
    return Finding("ok", measured)


def in_one(parts: Iterable[str]) -> str:
    """Several texts as one, each with its English."""
    return reduce(lambda said, each: f"{said}; {each}", parts)


def skipped(why: str) -> Finding:
    """It was not looked at."""
    return Finding("skipped", why)
