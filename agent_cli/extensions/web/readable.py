"""Turns HTML into text that a model reads: headings, lists, links, tables and code survive."""

import re
from collections.abc import Callable
from html.parser import HTMLParser
from urllib.parse import urljoin

from agent_cli.safety.tokens import words

PIECE = 65_536
"""Characters between two looks at whether it is still wanted."""

Attributes = list[tuple[str, str | None]]

_SKIPPED = words(
    "script style noscript template svg math iframe object canvas nav footer dialog select"
)
_BLOCKS = words(
    "address article aside body div dl dt dd fieldset figure figcaption footer form"
    " header html main ol p section table tbody thead tfoot ul details summary caption"
    " center"
)
_HEADINGS = {f"h{level}": f"\n\n{'#' * level} " for level in range(1, 7)}
_OPENINGS = {
    "br": "\n",
    "hr": "\n\n---\n\n",
    "tr": "\n",
    "blockquote": "\n\n> ",
    **_HEADINGS,
}
"""Tags that stand for some text by themselves."""
_ENDLESS = words(
    "area base br col embed hr img input link meta param source track wbr"
    " p li dt dd tr td th option thead tbody tfoot html body"
)
"""Tags whose end is left out always or often: where they end cannot be told by a tag."""
_INVISIBLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_BLANKS = re.compile(r"\s+")


def readable(html: str, base: str, is_given_up: Callable[[], bool] = lambda: False) -> str:
    """The text of a page, with its title first; links are made whole against `base`."""
    reader = _Reader(base)
    for start in range(0, len(html), PIECE):
        if is_given_up():
            break
        reader.feed(html[start : start + PIECE])
    reader.close()
    return reader.text()


class _Reader(HTMLParser):
    """Writes text down while it reads tags; whatever is wrong with the page, it goes on."""

    def __init__(self, base: str) -> None:
        super().__init__(convert_charrefs=True)
        self._base = base
        self._title: list[str] = []
        self._in_title = False
        self._out: list[str] = []
        self._skipping: tuple[str, int] | None = None
        """The element that is left out, and how many of its name are open."""
        self._preformatted = 0
        self._lists: list[int | None] = []
        """The next number of each open list; None: it has no numbers."""
        self._links: list[tuple[str, int]] = []
        """Where each open link leads, and where its text begins."""

    def text(self) -> str:
        """Everything so far, put in order."""
        title = _BLANKS.sub(" ", "".join(self._title)).strip()
        body = re.sub(r"[ \t]+\n", "\n", "".join(self._out))
        body = re.sub(r"\n{3,}", "\n\n", body).strip("\n")
        if not title or body.startswith(f"# {title}\n") or body == f"# {title}":
            return body
        return f"{title}\n\n{body}".rstrip()

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        if self._skipping is not None:
            name, depth = self._skipping
            if tag == name:
                self._skipping = (name, depth + 1)
            return
        if tag in _SKIPPED or (_is_hidden(attrs) and tag not in _ENDLESS):
            self._skipping = (tag, 1)
            return
        self._open(tag, dict(attrs))

    def handle_startendtag(self, tag: str, attrs: Attributes) -> None:
        """`<br/>` is no different; `<svg/>` has nothing in it to leave out."""
        if tag not in _SKIPPED:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self._skipping is None:
            self._close(tag)
            return
        name, depth = self._skipping
        if tag == name:
            self._skipping = (name, depth - 1) if depth > 1 else None

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self._title.append(data)
        elif self._skipping is not None:
            return
        elif self._preformatted:
            self._out.append(data)
        else:
            text = _BLANKS.sub(" ", data)
            self._out.append(text.lstrip() if self._at_line_start() else text)

    def _open(self, tag: str, attributes: dict[str, str | None]) -> None:
        match tag:
            case "title":
                self._in_title = True
            case "pre":
                self._preformatted += 1
                self._out.append("\n\n```\n")
            case "code" if not self._preformatted:
                self._out.append("`")
            case "a":
                self._links.append((attributes.get("href") or "", len(self._out)))
            case "img":
                if alternative := _BLANKS.sub(" ", attributes.get("alt") or "").strip():
                    self._out.append(f"[picture: {alternative}]")
            case "ul" | "ol":
                self._out.append("\n" if self._lists else "\n\n")
                self._lists.append(1 if tag == "ol" else None)
            case "li":
                self._item()
            case "td" | "th":
                self._out.append("" if self._at_line_start() else " | ")
            case _ if tag in _OPENINGS:
                self._out.append(_OPENINGS[tag])
            case _ if tag in _BLOCKS and not self._just_began_item():
                self._out.append("\n\n")

    def _close(self, tag: str) -> None:
        match tag:
            case "title":
                self._in_title = False
            case "pre" if self._preformatted:
                self._preformatted -= 1
                self._out.append("\n```\n\n")
            case "code" if not self._preformatted:
                self._out.append("`")
            case "a" if self._links:
                self._link(*self._links.pop())
            case "ul" | "ol" if self._lists:
                self._lists.pop()
                self._out.append("\n" if self._lists else "\n\n")
            case _ if tag in _HEADINGS or tag in _BLOCKS or tag == "blockquote":
                self._out.append("\n\n")

    def _item(self) -> None:
        depth = max(len(self._lists) - 1, 0)
        number = self._lists[-1] if self._lists else None
        if number is not None:
            self._lists[-1] = number + 1
        self._out.append(f"\n{'  ' * depth}{'-' if number is None else f'{number}.'} ")

    def _link(self, target: str, start: int) -> None:
        text = "".join(self._out[start:])
        if not text.strip() or target.startswith(("#", "javascript:", "data:")) or not target:
            return
        try:
            whole = urljoin(self._base, target.strip())
        except ValueError:
            return
        if "\n" in text.strip() or whole == text.strip():
            return  # a link around whole blocks says more as it stands
        lead = text[: len(text) - len(text.lstrip())]
        trail = text[len(text.rstrip()) :]
        self._out[start:] = [f"{lead}[{text.strip()}]({whole}){trail}"]

    def _at_line_start(self) -> bool:
        last = next((text for text in reversed(self._out) if text), "\n")
        return last.endswith(("\n", " "))

    def _just_began_item(self) -> bool:
        return bool(self._out) and re.fullmatch(r"\n *(-|\d+\.) ", self._out[-1]) is not None


def _is_hidden(attributes: Attributes) -> bool:
    """Whether a person would not see it: what only machines read is a place for instructions."""
    given = dict(attributes)
    return "hidden" in given or _INVISIBLE.search(given.get("style") or "") is not None
