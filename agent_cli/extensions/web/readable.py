"""Turns HTML into text that a model reads: headings, lists, links, tables and code survive."""

import re
from collections.abc import Callable, Mapping
from urllib.parse import urljoin

from agent_cli.extensions.web.markup import End, Start, Text, pieces
from agent_cli.safety.tokens import words

LOOK_EVERY = 1_000
"""Tags between two looks at whether it is still wanted."""
MAX_DEPTH = 8
"""How far a list is indented."""

_SKIPPED = words(
    "script style noscript template svg math iframe object canvas nav footer dialog select"
)
_BLOCKS = words(
    "address article aside body div dl dt dd fieldset figure figcaption footer form header html"
    " main p section table tbody thead tfoot details summary caption center"
)
_HEADINGS = {f"h{level}": f"\n\n{'#' * level} " for level in range(1, 7)}
_OPENINGS = {"br": "\n", "hr": "\n\n---\n\n", "tr": "\n", "blockquote": "\n\n> ", **_HEADINGS}
"""Tags that stand for some text by themselves."""
_ENDLESS = words(
    "area base br col embed hr img input link meta param source track wbr"
    " p li dt dd tr td th option thead tbody tfoot html body"
)
"""Tags whose end is left out always or often: where they end cannot be told by a tag."""
_INVISIBLE = re.compile(r"display\s*+:\s*+none|visibility\s*+:\s*+hidden", re.IGNORECASE)
_BLANKS = re.compile(r"\s+")
_ITEM = re.compile(r"\n *(-|\d+\.) ")


def readable(html: str, base: str, is_given_up: Callable[[], bool] = lambda: False) -> str:
    """The text of a page, with its title first; links are made whole against `base`."""
    writer = _Writer(base)
    for count, piece in enumerate(pieces(html)):
        if count % LOOK_EVERY == 0 and is_given_up():
            break
        writer.take(piece)
    return writer.text()


class _Writer:
    """Writes text down as tags go by; whatever is wrong with the page, it goes on."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._title = ""
        self._in_title = False
        self._out: list[str] = []
        self._skipping: tuple[str, int] | None = None
        """The element that is left out, and how many of its name are open."""
        self._preformatted = 0
        self._lists: list[int | None] = []
        """The next number of each open list; None: it has no numbers."""
        self._link: tuple[str, int] | None = None
        """Where the open link leads, and where its text begins."""

    def text(self) -> str:
        """Everything so far, put in order."""
        title = _BLANKS.sub(" ", self._title).strip()
        body = "\n".join(line.rstrip() for line in "".join(self._out).split("\n"))
        body = re.sub(r"\n{3,}", "\n\n", body).strip("\n")
        if not title or body.startswith(f"# {title}\n") or body == f"# {title}":
            return body
        return f"{title}\n\n{body}".rstrip()

    def take(self, piece: Text | Start | End) -> None:
        """Go on with the next piece of the page."""
        if self._skipping is not None:
            self._skip(piece)
        elif isinstance(piece, Text):
            self._say(piece.text)
        elif isinstance(piece, End):
            self._close(piece.tag)
        elif piece.tag in _SKIPPED or (_is_hidden(piece.attributes) and piece.tag not in _ENDLESS):
            self._skipping = None if piece.is_closed else (piece.tag, 1)
        else:
            self._open(piece.tag, piece.attributes)

    def _skip(self, piece: Text | Start | End) -> None:
        assert self._skipping is not None
        name, depth = self._skipping
        if isinstance(piece, Start) and piece.tag == name and not piece.is_closed:
            self._skipping = (name, depth + 1)
        elif isinstance(piece, End) and piece.tag == name:
            self._skipping = (name, depth - 1) if depth > 1 else None

    def _say(self, text: str) -> None:
        if self._in_title:
            self._title = self._title or text
            return
        if not self._preformatted:
            text = _BLANKS.sub(" ", text)
            text = text.lstrip() if self._is_at_start() else text
        self._write(text)

    def _open(self, tag: str, attributes: Mapping[str, str]) -> None:
        match tag:
            case "title":
                self._in_title = True
            case "pre":
                self._preformatted += 1
                self._write("\n\n```\n")
            case "code" if not self._preformatted:
                self._write("`")
            case "a":
                self._link = (attributes.get("href", "").strip(), len(self._out))
            case "img":
                if alternative := _BLANKS.sub(" ", attributes.get("alt", "")).strip():
                    self._write(f"[picture: {alternative}]")
            case "ul" | "ol":
                self._write("\n" if self._lists else "\n\n")
                self._lists.append(1 if tag == "ol" else None)
            case "li":
                self._begin_item()
            case "td" | "th":
                self._write("" if self._is_at_start() else " | ")
            case _ if tag in _OPENINGS:
                self._write(_OPENINGS[tag])
            case _ if tag in _BLOCKS and not (self._out and _ITEM.fullmatch(self._out[-1])):
                self._write("\n\n")

    def _close(self, tag: str) -> None:
        match tag:
            case "title":
                self._in_title = False
            case "pre" if self._preformatted:
                self._preformatted -= 1
                self._write("```\n\n" if self._is_at_start() else "\n```\n\n")
            case "code" if not self._preformatted:
                self._write("`")
            case "a" if self._link is not None:
                self._end_link(*self._link)
                self._link = None
            case "ul" | "ol" if self._lists:
                self._lists.pop()
                self._write("\n" if self._lists else "\n\n")
            case _ if tag in _HEADINGS or tag in _BLOCKS or tag == "blockquote":
                self._write("\n\n")

    def _begin_item(self) -> None:
        depth = min(max(len(self._lists) - 1, 0), MAX_DEPTH)
        number = self._lists[-1] if self._lists else None
        if number is not None:
            self._lists[-1] = number + 1
        self._write(f"\n{'  ' * depth}{'-' if number is None else f'{number}.'} ")

    def _end_link(self, target: str, start: int) -> None:
        """Put the text of a link and its target together; around whole blocks it is left out."""
        text = "".join(self._out[start:])
        inner = text.strip()
        if not inner or "\n" in inner or target.startswith(("#", "javascript:", "data:")):
            return
        try:
            whole = urljoin(self._base, target)
        except ValueError:
            return
        if target and whole != inner:
            before = text[: len(text) - len(text.lstrip())]
            after = text[len(text.rstrip()) :]
            self._out[start:] = [f"{before}[{inner}]({whole}){after}"]

    def _write(self, text: str) -> None:
        if text:
            self._out.append(text)

    def _is_at_start(self) -> bool:
        return not self._out or self._out[-1].endswith(("\n", " "))


def _is_hidden(attributes: Mapping[str, str]) -> bool:
    """Whether the user would not see it: what only machines read is a place for instructions."""
    return "hidden" in attributes or _INVISIBLE.search(attributes.get("style", "")) is not None
