"""Splits HTML into tags and text, in time that grows with its length only.

The standard library's parser takes minutes for two million angle brackets; whoever writes a page
must not have that much of a say in how long we work.
"""

import html
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

_OPENING = re.compile(r"<(?=/?[a-zA-Z]|[!?])")
_NAME = re.compile(r"[a-zA-Z][^\s/>]*+")
_ATTRIBUTE = re.compile(
    r"[\s/]*+([^\s/>=][^\s/>=]*+)(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s>]*+)))?"
)
_REST_OF_TAG = re.compile(r"[^>]*+>")
_RAW = {
    name: re.compile(f"</{name}", re.IGNORECASE)
    for name in ("script", "style", "title", "textarea", "iframe", "noembed", "noframes", "xmp")
}
"""Elements whose content is text whatever it looks like."""


class Text(NamedTuple):
    """Text as it is meant: references are resolved."""

    text: str


class Start(NamedTuple):
    """The beginning of an element."""

    tag: str
    attributes: Mapping[str, str]
    is_closed: bool
    """`<svg/>`: there is nothing in it."""


class End(NamedTuple):
    """The end of an element."""

    tag: str


def pieces(source: str) -> Iterator[Text | Start | End]:
    """The tags and texts of a page. Comments are left out; what has no end ends with the page."""
    position = 0
    while position < len(source):
        opening = _OPENING.search(source, position)
        until = opening.start() if opening else len(source)
        if until > position:
            yield Text(_unescape(source[position:until]))
        if opening is None:
            return
        found, position = _markup(source, until)
        if found is not None:
            yield found
        if isinstance(found, Start) and found.tag in _RAW and not found.is_closed:
            end = _RAW[found.tag].search(source, position)
            inner = source[position : end.start() if end else len(source)]
            yield Text(_unescape(inner) if found.tag in ("title", "textarea") else inner)
            position = end.start() if end else len(source)


def _markup(source: str, at: int) -> tuple[Start | End | None, int]:
    """What begins with the angle bracket there, and where it ends."""
    if source.startswith("<!--", at):
        return None, _after(source, "-->", at + 4)
    if source.startswith(("<!", "<?"), at):
        return None, _after(source, ">", at + 2)
    is_end = source.startswith("</", at)
    name = _NAME.match(source, at + 1 + is_end)
    assert name is not None
    if is_end:
        return End(name[0].lower()), _after(source, ">", name.end())
    return _start(source, name)


def _start(source: str, name: re.Match[str]) -> tuple[Start, int]:
    attributes: dict[str, str] = {}
    position = name.end()
    while found := _ATTRIBUTE.match(source, position):
        value = next((given for given in found.groups()[1:] if given is not None), "")
        attributes.setdefault(found[1].lower(), _unescape(value))
        position = found.end()
    rest = _REST_OF_TAG.match(source, position)
    end = rest.end() if rest else len(source)
    return Start(name[0].lower(), attributes, source.endswith("/>", 0, end)), end


def _after(source: str, mark: str, start: int) -> int:
    found = source.find(mark, start)
    return len(source) if found < 0 else found + len(mark)


def _unescape(text: str) -> str:
    if "&" not in text:
        return text
    try:
        return html.unescape(text)
    except ValueError:  # a number of thousands of digits
        return text
