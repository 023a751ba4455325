"""Our own two themes: calm, one accent, and green, yellow and red only for what they mean."""

from collections.abc import Mapping
from typing import Any

from textual.app import App
from textual.theme import Theme

_LIGHT = {"7", *map(str, range(9, 16))}
"""The colours of the usual sixteen that are light."""

_GREYS = ("border", "border-blurred", "scrollbar", "scrollbar-hover", "scrollbar-active")


def _variables(text: str, ground: str, selection: str, greys: str) -> dict[str, str]:
    behind = ("background", "background-hover", "background-active", "corner-color")
    return {
        **dict(zip(_GREYS, greys.split(), strict=True)),
        **{f"{cursor}-cursor-background": text for cursor in ("block", "input")},
        **{f"{cursor}-cursor-foreground": ground for cursor in ("block", "input")},
        **{f"scrollbar-{part}": ground for part in behind},
        "input-selection-background": selection,
    }


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
    variables=_variables(
        "#d5d9e0", "#14161b", "#7fa9cf 30%", "#3a404b #2a2f38 #343a45 #4a5260 #5c6676"
    ),
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
    variables=_variables(
        "#26292e", "#fbfaf8", "#2b6290 22%", "#c4bfb5 #dcd8cf #d2cdc3 #b9b3a7 #a39c8f"
    ),
)


def by_terminal(environment: Mapping[str, str]) -> str:
    """Our light theme where the terminal says that its background is light, else the dark one."""
    background = environment.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT.name if background in _LIGHT else DARK.name


def register(app: App[Any]) -> None:
    """Make both themes known to an app. `NO_COLOR` needs nothing: Textual drops all colours."""
    app.register_theme(DARK)
    app.register_theme(LIGHT)
