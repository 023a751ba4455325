"""Our own two themes: calm, one accent, and green, yellow and red only for what they mean."""

from collections.abc import Mapping
from typing import Any

from textual.app import App
from textual.theme import Theme

_LIGHT = {"7", *map(str, range(9, 16))}
"""The colours of the usual sixteen that are light."""

DARK = Theme(
    name="agent-dark",
    dark=True,
    primary="#7fa9cf",
    secondary="#93a1b3",
    accent="#7fa9cf",
    foreground="#d5d9e0",
    background="#14161b",
    surface="#1a1d23",
    panel="#23272f",
    success="#8cbf84",
    warning="#d8b460",
    error="#e07a70",
    variables={
        "block-cursor-background": "#d5d9e0",
        "block-cursor-foreground": "#14161b",
        "border": "#3a404b",
        "border-blurred": "#2a2f38",
        "input-cursor-background": "#d5d9e0",
        "input-cursor-foreground": "#14161b",
        "input-selection-background": "#7fa9cf 30%",
        "scrollbar": "#343a45",
        "scrollbar-hover": "#4a5260",
        "scrollbar-active": "#5c6676",
        "scrollbar-background": "#14161b",
        "scrollbar-background-hover": "#14161b",
        "scrollbar-background-active": "#14161b",
        "scrollbar-corner-color": "#14161b",
    },
)

LIGHT = Theme(
    name="agent-light",
    dark=False,
    primary="#2b6290",
    secondary="#5f6b7a",
    accent="#2b6290",
    foreground="#26292e",
    background="#fbfaf8",
    surface="#f4f2ee",
    panel="#e9e6e0",
    success="#357a38",
    warning="#8a6100",
    error="#b3352c",
    variables={
        "block-cursor-background": "#26292e",
        "block-cursor-foreground": "#fbfaf8",
        "border": "#c4bfb5",
        "border-blurred": "#dcd8cf",
        "input-cursor-background": "#26292e",
        "input-cursor-foreground": "#fbfaf8",
        "input-selection-background": "#2b6290 22%",
        "scrollbar": "#d2cdc3",
        "scrollbar-hover": "#b9b3a7",
        "scrollbar-active": "#a39c8f",
        "scrollbar-background": "#fbfaf8",
        "scrollbar-background-hover": "#fbfaf8",
        "scrollbar-background-active": "#fbfaf8",
        "scrollbar-corner-color": "#fbfaf8",
    },
)


def by_terminal(environment: Mapping[str, str]) -> str:
    """Our light theme where the terminal says that its background is light, else the dark one."""
    background = environment.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT.name if background in _LIGHT else DARK.name


def register(app: App[Any]) -> None:
    """Make both themes known to an app. `NO_COLOR` needs nothing: Textual drops all colours."""
    app.register_theme(DARK)
    app.register_theme(LIGHT)
