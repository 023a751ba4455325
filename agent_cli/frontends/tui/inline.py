"""The text inside a Markdown block as styled spans."""

from collections.abc import Sequence

from markdown_it.token import Token
from rich.style import Style

from agent_cli.frontends.tui.appearance import Appearance
from agent_cli.frontends.tui.styled_lines import Span
from agent_cli.lib.language import tr
from agent_cli.safety.sanitise import clean

_OPENING = {"strong_open": "strong", "em_open": "emphasis", "s_open": "struck"}


def inline(tokens: Sequence[Token], look: Appearance, style: Style | None = None) -> list[Span]:
    """The spans of an inline text; links show where they lead, and lead nowhere by themselves."""
    spans: list[Span] = []
    styles = [style or Style.null()]
    links: list[tuple[str, int]] = []
    for token in tokens:
        if token.type in _OPENING:
            styles.append(styles[-1] + getattr(look.styles, _OPENING[token.type]))
        elif token.type == "link_open":
            target = _safe(str(token.attrGet("href") or ""))
            links.append((target, len(spans)))
            is_web = target.lower().startswith(("http://", "https://"))
            styles.append(styles[-1] + look.styles.link if is_web else styles[-1])
        elif token.type == "link_close":
            styles.pop()
            target, start = links.pop()
            spans += _target(target, spans[start:], look)
        elif token.nesting < 0:
            styles.pop()
        else:
            spans += _leaf(token, styles[-1], look)
    return spans


def _leaf(token: Token, style: Style, look: Appearance) -> list[Span]:
    match token.type:
        case "softbreak":
            return [(" ", style)]
        case "hardbreak":
            return [("\n", style)]
        case "code_inline":
            return [(_safe(token.content), style + look.styles.code)]
        case "image":
            target = _safe(str(token.attrGet("src") or ""))
            name = _safe(token.content) or tr("unnamed")
            return [(tr("[image: {name}]", name=name), style), *_target(target, [], look)]
        case _:
            return [(_safe(token.content), style)] if token.content else []


def _safe(text: str) -> str:
    """Clean once more: `&#x202e;` was harmless until it was read as Markdown."""
    return clean(text).replace("\n", " ")


def _target(target: str, shown: Sequence[Span], look: Appearance) -> list[Span]:
    """Where a link leads, unless its text says just that."""
    text = "".join(text for text, _ in shown)
    if not target or text in {target, target.removeprefix("mailto:")}:
        return []
    return [(f" ({target})", look.styles.dim)]
