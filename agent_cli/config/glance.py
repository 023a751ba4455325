"""The few settings that the first screen depends on, read before all others."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent_cli.config.user_directories import Directories


@dataclass(frozen=True)
class EarlySettings:
    """Wrong settings are not reported here; loading all of them does that."""

    theme: str = ""
    reduced_motion: bool = False
    is_inline: bool = False
    """Whether to stay out of full screen."""
    language: str = "auto"


def glance(environment: Mapping[str, str]) -> EarlySettings:
    """What the user's file and the environment say about the look."""
    values = _user_file(environment)
    theme = environment.get("AGENT_THEME") or values.get("theme")
    motion = environment.get("AGENT_REDUCED_MOTION") or values.get("reduced_motion")
    return EarlySettings(
        theme if isinstance(theme, str) else "",
        reduced_motion=str(motion).lower() in ("true", "1", "yes", "on"),
        is_inline=(environment.get("AGENT_UI") or values.get("ui")) == "inline",
        language=str(environment.get("AGENT_LANGUAGE") or values.get("language") or "auto"),
    )


def _user_file(environment: Mapping[str, str]) -> dict[str, Any]:
    try:
        text = Directories.of(environment).config_file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}
