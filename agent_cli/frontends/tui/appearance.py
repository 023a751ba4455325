"""How things look: styles and signs, resolved once, so that blocks need to know no widget."""

from dataclasses import dataclass, fields, replace
from typing import Any

from rich.style import Style
from textual.color import Color
from textual.widget import Widget

from agent_cli.frontends.shared.signs import EMOJI, Signs
from agent_cli.safety.sanitise import Span as ForeignSpan
from agent_cli.safety.sanitise import Style as ForeignStyle

PREFIX = "transcript--"
PROSE = 100
"""Lines of prose are not wider than this: longer ones are hard to read."""
ROW = 132
"""Rows with a figure at their right end are not wider than this."""


@dataclass(frozen=True)
class Styles:
    """One style for each meaning; in the style sheet each is a component class of this name."""

    dim: Style = Style.null()
    accent: Style = Style.null()
    success: Style = Style.null()
    waiting: Style = Style.null()
    failure: Style = Style.null()
    strong: Style = Style.null()
    emphasis: Style = Style.null()
    struck: Style = Style.null()
    heading: Style = Style.null()
    code: Style = Style.null()
    link: Style = Style.null()
    quote: Style = Style.null()
    thinking: Style = Style.null()
    added: Style = Style.null()
    removed: Style = Style.null()
    keyword: Style = Style.null()
    string: Style = Style.null()
    comment: Style = Style.null()
    number: Style = Style.null()
    name: Style = Style.null()
    cursor: Style = Style.null()
    hint: Style = Style.null()


COMPONENTS = {f"{PREFIX}{field.name}" for field in fields(Styles)}


@dataclass(frozen=True)
class Appearance:
    """Styles and signs for one theme on one terminal."""

    styles: Styles = Styles()
    signs: Signs = EMOJI
    no_color: bool = False

    @classmethod
    def of(cls, widget: Widget, *, no_color: bool) -> "Appearance":
        """The look that the style sheet gives a widget with the component classes of `Styles`."""
        background = widget.background_colors[1]
        names = (field.name for field in fields(Styles))
        styles = Styles(**{name: _style(widget, f"{PREFIX}{name}", background) for name in names})
        return cls(_colourless(styles) if no_color else styles, no_color=no_color)


def _style(widget: Widget, name: str, background: Color) -> Style:
    """Only what the style sheet says about this component, blended with the background."""
    rules = widget.get_component_styles(name)
    under = background + rules.background if rules.has_rule("background") else background
    given: dict[str, Any] = {}
    if rules.has_rule("background"):
        given["bgcolor"] = under.rich_color
    if rules.has_rule("color"):
        given["color"] = (under + rules.color).rich_color
    return Style(**given) + rules.text_style


def _colourless(styles: Styles) -> Styles:
    """Without colours what matters is bold: colours turned to grey would hide it instead."""
    plain = {"success": False, "code": False, "keyword": False, "string": False, "number": False}
    plain |= {"name": False, "accent": True, "waiting": True, "failure": True}
    return replace(styles, **{name: Style(bold=bold) for name, bold in plain.items()})


def foreign(span: ForeignSpan, look: Appearance) -> tuple[str, Style | None]:
    """Sanitised terminal output as a span of ours."""
    style = replace(span.style, fg=None, bg=None) if look.no_color else span.style
    return span.text, _foreign_style(style)


_TRAITS = ("bold", "dim", "italic", "underline", "reverse", "strike")
_known: dict[ForeignStyle, Style | None] = {ForeignStyle(): None}


def _foreign_style(style: ForeignStyle) -> Style | None:
    if style not in _known:
        if len(_known) > 4_096:  # a picture drawn in colours must not stay forever
            _known.clear()
        traits = {name: getattr(style, name) or None for name in _TRAITS}
        _known[style] = Style(color=_colour(style.fg), bgcolor=_colour(style.bg), **traits)
    return _known[style]


def _colour(colour: int | tuple[int, int, int] | None) -> str | None:
    if colour is None:
        return None
    return f"color({colour})" if isinstance(colour, int) else "rgb({},{},{})".format(*colour)
