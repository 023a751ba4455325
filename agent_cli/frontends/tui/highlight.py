"""Source text in colours."""

from functools import lru_cache
from pathlib import PurePath
from typing import Any

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Generic, Keyword, Name, Number, String, Token
from pygments.util import ClassNotFound
from rich.style import Style

from agent_cli.frontends.tui.appearance import Appearance
from agent_cli.frontends.tui.styled_lines import Span, split_lines

MAX_CHARS = 40_000
"""Characters; a longer text stays plain, because colouring it would be felt."""

_LANGUAGES = {
    "bash": "bash zsh sh",
    "c": "c h",
    "cpp": "cc cpp cxx hpp",
    "csharp": "cs",
    "css": "css tcss scss",
    "go": "go",
    "html": "html htm",
    "ini": "ini cfg",
    "java": "java",
    "javascript": "js mjs cjs jsx",
    "json": "json jsonl",
    "kotlin": "kt kts",
    "lua": "lua",
    "make": "mk makefile",
    "markdown": "md",
    "php": "php",
    "python": "py pyi",
    "ruby": "rb",
    "rust": "rs",
    "sql": "sql",
    "swift": "swift",
    "toml": "toml",
    "typescript": "ts tsx",
    "xml": "xml svg",
    "yaml": "yaml yml",
}
_BY_ENDING = {ending: name for name, endings in _LANGUAGES.items() for ending in endings.split()}
_FIELDS = {
    Comment: "comment",
    Keyword: "keyword",
    Name.Builtin: "name",
    Name.Class: "name",
    Name.Decorator: "name",
    Name.Function: "name",
    Name.Tag: "keyword",
    Number: "number",
    String: "string",
    Generic.Deleted: "removed",
    Generic.Heading: "heading",
    Generic.Inserted: "added",
    Generic.Subheading: "dim",
}


def language_of(path: str) -> str:
    """The language a file is written in, told by its name; empty if it is none we know."""
    name = PurePath(path).name.lower()
    return _BY_ENDING.get(name.rpartition(".")[2], "")


def highlight(code: str, language: str, look: Appearance) -> list[list[Span]]:
    """The lines of a source text. The text must be clean."""
    lexer = _lexer(language) if language and len(code) <= MAX_CHARS else None
    if lexer is None:
        return [[(line, None)] if line else [] for line in code.split("\n")]
    return split_lines(
        [(text, _style(kind, look)) for _, kind, text in lexer.get_tokens_unprocessed(code)]
    )


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language)
    except ClassNotFound:
        return None


def _style(kind: Any, look: Appearance) -> Style | None:
    field = _field(kind)
    style: Style | None = getattr(look.styles, field) if field else None
    return style


@lru_cache(maxsize=512)
def _field(kind: Any) -> str | None:
    while kind is not Token and kind is not None:
        if kind in _FIELDS:
            return _FIELDS[kind]
        kind = kind.parent
    return None
