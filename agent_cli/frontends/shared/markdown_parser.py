"""How a Markdown text is read, and where its blocks start."""

from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

_MAX_DEPTH = 20


@cache
def parser() -> MarkdownIt:
    """CommonMark with tables. Raw HTML is text, and no block depends on another one.

    Without reference definitions a block means the same whatever follows it, so that a reply can be
    rendered while it arrives.
    """
    options = {"html": False, "maxNesting": _MAX_DEPTH}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"]).disable("reference")


def starts(source: str) -> list[int]:
    """The numbers of the lines at which the outermost blocks of a text start."""
    tokens: list[Token] = []
    markdown = parser()
    markdown.block.parse(source, markdown, {}, tokens)
    return [t.map[0] for t in tokens if t.level == 0 and t.nesting >= 0 and t.map]
