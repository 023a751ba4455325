"""A session as one HTML file with colours, which loads nothing and runs nothing."""

from html import escape

from agent_cli.core.log.history import History
from agent_cli.export.pieces import CallPiece, TextPiece, details, facts, name_of, pieces
from agent_cli.lib.language import current_language

_STYLE = """
:root { color-scheme: light dark; --text: #1f2328; --back: #ffffff; --dim: #656d76; --line: #d0d7de;
  --accent: #0969da; --add: #1a7f37; --remove: #cf222e; --code: #f6f8fa; --person: #ddf4ff; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --back: #0d1117; --dim: #8d96a0;
  --line: #30363d; --accent: #4493f8; --add: #3fb950; --remove: #f85149; --code: #161b22;
  --person: #121d2f; } }
body { max-width: 56rem; margin: 2rem auto; padding: 0 1rem; background: var(--back);
  color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
header p, .program, .thinking, .outcome { color: var(--dim); }
.person { background: var(--person); border-left: 4px solid var(--accent); padding: .5rem 1rem;
  white-space: pre-wrap; margin: 1.5rem 0; }
.thinking { white-space: pre-wrap; font-style: italic; }
details { border: 1px solid var(--line); border-radius: 6px; padding: .4rem .8rem;
  margin: .5rem 0; }
summary { cursor: pointer; } summary b { color: var(--accent); }
.failed summary b { color: var(--remove); }
pre { background: var(--code); padding: .6rem .8rem; overflow-x: auto; border-radius: 6px;
  font-size: 13px; }
.add { color: var(--add); } .remove { color: var(--remove); } .hunk { color: var(--accent); }
table { border-collapse: collapse; } td, th { border: 1px solid var(--line); padding: .2rem .6rem; }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def as_html(history: History) -> str:
    """The whole document."""
    name = escape(name_of(history))
    told = pieces(history.events)
    body = "\n".join(_words(p) if isinstance(p, TextPiece) else _call(p) for p in told)
    return (
        f'<!doctype html>\n<html lang="{current_language()}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{name}</title>\n<style>{_STYLE}{_code_style()}</style>\n</head>\n<body>\n"
        f"<header><h1>{name}</h1><p>{escape(' · '.join(facts(history)))}</p></header>\n"
        f"{body}\n</body>\n</html>\n"
    )


def _words(piece: TextPiece) -> str:
    if piece.by == "model":
        return f'<div class="model">{_markdown(piece.text)}</div>'
    return f'<div class="{piece.by}">{escape(piece.text.strip())}</div>'


def _call(piece: CallPiece) -> str:
    is_failed = piece.result is not None and not piece.result.success
    shown = details(piece.result) if piece.result else []
    body = "".join(
        f"<pre>{_diff(text) if language == 'diff' else _highlight(text, language)}</pre>"
        for text, language in shown
    )
    return (
        f"<details{' class=failed' if is_failed else ''}><summary><b>{escape(piece.tool)}</b> "
        f"{escape(piece.heading.removeprefix(piece.tool).strip())} "
        f'<span class="outcome">{escape(piece.outcome)}</span></summary>{body}</details>'
    )


def _diff(text: str) -> str:
    kinds = {"+": "add", "-": "remove", "@": "hunk"}
    lines = []
    for line in text.rstrip("\n").split("\n"):
        kind = kinds.get(line[:1], "")
        shown = escape(line)
        lines.append(f'<span class="{kind}">{shown}</span>' if kind else shown)
    return "\n".join(lines)


def _highlight(text: str, language: str) -> str:
    """Source text in colours if its language is known."""
    from pygments import highlight  # noqa: PLC0415 (only an export needs it)
    from pygments.formatters import HtmlFormatter  # noqa: PLC0415
    from pygments.lexers import get_lexer_by_name  # noqa: PLC0415
    from pygments.util import ClassNotFound  # noqa: PLC0415

    try:
        lexer = get_lexer_by_name(language)
    except ClassNotFound:
        return escape(text.rstrip("\n"))
    coloured: str = highlight(text, lexer, HtmlFormatter(nowrap=True))
    return coloured.rstrip("\n")


def _code_style() -> str:
    from pygments.formatters import HtmlFormatter  # noqa: PLC0415

    light: str = HtmlFormatter(style="default").get_style_defs("pre")
    dark: str = HtmlFormatter(style="github-dark").get_style_defs("pre")
    back = "pre { background: var(--code) !important; }"
    return f"{light}\n@media (prefers-color-scheme: dark) {{ {dark} }}\n{back}\n"


def _markdown(text: str) -> str:
    """Markdown as HTML; HTML in it stays text, and pictures are only named."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 (only an export needs it)

    def coloured(code: str, language: str, _attributes: str) -> str:
        return _highlight(code, language) if language else ""

    parser = MarkdownIt("commonmark", {"html": False, "highlight": coloured})
    rendered: str = parser.enable(["table", "strikethrough"]).disable("image").render(text)
    return rendered
