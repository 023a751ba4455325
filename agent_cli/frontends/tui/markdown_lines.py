"""Markdown as lines."""

import re
from collections.abc import Iterator, Sequence

from markdown_it.token import Token
from rich.style import Style
from textual.strip import Strip

from agent_cli.frontends.shared.markdown_parser import parser
from agent_cli.frontends.tui.appearance import PROSE, Appearance
from agent_cli.frontends.tui.highlight import highlight
from agent_cli.frontends.tui.inline import inline
from agent_cli.frontends.tui.styled_lines import BLANK, Line, Span, indent_lines, split_lines, wrap
from agent_cli.frontends.tui.table_lines import Cell, table

_CODE: list[Span] = [("  ", None)]


def render(source: str, width: int, look: Appearance) -> list[Strip]:
    """All of a clean Markdown text."""
    return _Writer(look).blocks(parser().parse(source), width)


def code_line(text: str, width: int) -> list[Line]:
    """A line of code before it is known how to colour it."""
    return wrap([(text, None)], width, first=_CODE)


class _Writer:
    def __init__(self, look: Appearance) -> None:
        self.look = look

    def blocks(self, tokens: Sequence[Token], width: int, *, tight: bool = False) -> list[Strip]:
        """The blocks one under the other, with a blank line between them unless they are tight."""
        lines: list[Strip] = []
        for block in _split(tokens):
            own = self._block(block, width)
            if own and lines and not tight:
                lines.append(BLANK)
            lines += own
        return lines

    def _block(self, tokens: Sequence[Token], width: int) -> list[Strip]:
        opening, inner = tokens[0], tokens[1:-1]
        styles = self.look.styles
        match opening.type:
            case "paragraph_open" | "inline":
                return self._text(tokens[1] if inner else opening, width)
            case "heading_open":
                return self._text(tokens[1], width, styles.heading)
            case "bullet_list_open" | "ordered_list_open":
                return self._list(opening, inner, width)
            case "blockquote_open":
                bar: list[Span] = [(f"{self.look.signs.bar} ", styles.quote)]
                return indent_lines(self.blocks(inner, max(8, width - 2)), bar)
            case "fence" | "code_block":
                return self._code(opening, width)
            case "hr":
                return [Line([(self.look.signs.rule * min(width, 40), styles.dim)])]
            case "table_open":
                return table(self._rows(inner), width, self.look)
            case _:
                return self.blocks(inner, width)

    def _text(self, token: Token, width: int, style: Style | None = None) -> list[Strip]:
        spans = inline(token.children or [], self.look, style)
        return [part for line in split_lines(spans) for part in wrap(line, min(width, PROSE))]

    def _code(self, token: Token, width: int) -> list[Strip]:
        code = token.content.removesuffix("\n")
        words = token.info.split()
        language = re.sub(r"\W.*", "", words[0]) if words else ""
        lines = highlight(code, language.lower(), self.look)
        return [part for line in lines for part in wrap(line, width, first=_CODE)]

    def _list(self, opening: Token, tokens: Sequence[Token], width: int) -> list[Strip]:
        items = [item[1:-1] for item in _split(tokens)]
        ordered = opening.type == "ordered_list_open"
        first = int(opening.attrGet("start") or 1) if ordered else 0
        tight = all(t.hidden for item in items for t in item[:1] if t.type == "paragraph_open")
        marks = [f"{first + n}." if ordered else self.look.signs.bullet for n in range(len(items))]
        room = max(len(mark) for mark in marks) + 1
        lines: list[Strip] = []
        for mark, item in zip(marks, items, strict=True):
            own = self.blocks(item, max(8, width - room), tight=tight) or [BLANK]
            if lines and not tight:
                lines.append(BLANK)
            before: list[Span] = [(f"{mark:>{room - 1}} ", self.look.styles.dim)]
            lines += indent_lines(own, before, [(" " * room, None)])
        return lines

    def _rows(self, tokens: Sequence[Token]) -> list[list[Cell]]:
        rows: list[list[Cell]] = []
        for number, token in enumerate(tokens):
            if token.type == "tr_open":
                rows.append([])
            elif token.type in {"th_open", "td_open"}:
                bold = self.look.styles.strong if token.type == "th_open" else None
                spans = inline(tokens[number + 1].children or [], self.look, bold)
                right = "right" in str(token.attrGet("style") or "")
                rows[-1].append(Cell([(t.replace("\n", " "), s) for t, s in spans], right))
        return rows


def _split(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """The blocks among the tokens, each from its opening to its end."""
    start = depth = 0
    for position, token in enumerate(tokens):
        depth += token.nesting
        if depth == 0:
            yield tokens[start : position + 1]
            start = position + 1
