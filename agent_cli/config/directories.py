"""Our directories as plain text: the language is looked up before anything slow is loaded."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = "config.toml"


def directories(environment: "Mapping[str, str]") -> tuple[str, str]:
    """Those of settings and state: `AGENT_HOME` moves both; otherwise XDG's."""
    if home := environment.get("AGENT_HOME"):
        return home, f"{home}/state"
    user = environment.get("HOME") or os.path.expanduser("~")  # noqa: PTH111
    config = environment.get("XDG_CONFIG_HOME") or f"{user}/.config"
    state = environment.get("XDG_STATE_HOME") or f"{user}/.local/state"
    return f"{config}/agent", f"{state}/agent"


def language_setting(environment: "Mapping[str, str]") -> str:
    """The setting `language`, of which most files say nothing: those are not parsed."""
    if given := environment.get("AGENT_LANGUAGE"):
        return given
    if not _names_language(f"{directories(environment)[0]}/{FILE}"):
        return "auto"
    from agent_cli.config.glance import glance  # noqa: PLC0415 (slower than all of --help)

    return glance(environment).language


def _names_language(path: str) -> bool:
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return any(line.lstrip(b" \t\"'").startswith(b"language") for line in file)
    except OSError:
        return False
