"""Foreign text on its way to a screen: only text and colours get through."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from agent_cli.safety import characters as ch
from agent_cli.safety.ansi import (
    HAS_SEQUENCE,
    PLAIN,
    UNFINISHED,
    Colour,
    Style,
    readable,
    restyle,
    split,
)
from agent_cli.safety.oddities import oddities, visible

__all__ = [
    "Cleaner",
    "Colour",
    "Span",
    "Style",
    "Styler",
    "clean",
    "for_model",
    "oddities",
    "parse_styles",
    "visible",
]

_TAB = 8
# Without line breaks and without the two selectors for text and emoji: those have their own rules.
_DROPPED = (
    "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufe00-\ufe0d\U000e0100-\U000e01ef"
    f"{ch.BIDI}{ch.ZERO_WIDTH}{ch.TAGS}"
)
_BROKEN = f"{ch.SURROGATES}{ch.NONCHARACTERS}"
_ODD = re.compile(f"[{_DROPPED}{_BROKEN}{ch.LINE_BREAKS}\r]")
_RULES = re.compile(
    rf"(?P<newline>\r+\n|\r+|[{ch.LINE_BREAKS}])"
    rf"|(?P<broken>[{_BROKEN}])"
    rf"|[{_DROPPED}]+"
)
_SELECTOR_RUN = re.compile("(?<=[\ufe0e\ufe0f])[\ufe0e\ufe0f]+")

_MAYBE_HIDDEN = re.compile(
    rf"[{_BROKEN}\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f{ch.TAGS}{ch.SELECTORS}{ch.ZERO_WIDTH}]"
)
_HIDDEN_FROM_MODEL = re.compile(
    rf"(?P<broken>[{_BROKEN}])"
    rf"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f{ch.TAGS}]+"
    # One selector picks a glyph, one joiner joins; a row of them spells out a hidden text.
    rf"|(?<=[{ch.SELECTORS}])[{ch.SELECTORS}]+"
    rf"|(?<=[{ch.ZERO_WIDTH}]{{3}})[{ch.ZERO_WIDTH}]+"
)


@dataclass(frozen=True)
class Span:
    """A piece of text in one style."""

    text: str
    style: Style = PLAIN


def clean(text: str) -> str:
    """The text as plain lines: no sequence, no control, nothing invisible, tabs as spaces."""
    if not ch.NOT_PLAIN_ASCII.search(text):
        return text
    cleaner = Cleaner()
    return cleaner.feed(text) + cleaner.finish()


def parse_styles(text: str) -> tuple[Span, ...]:
    """The text as spans with the colours it asked for; hidden text is made readable."""
    styler = Styler()
    return tuple(_join((*styler.feed(text), *styler.finish())))


def for_model(text: str) -> tuple[str, bool]:
    """The text as valid UTF-8 without what nobody could have seen, and whether any was there."""
    if not _MAYBE_HIDDEN.search(text):
        return text, False
    shown = _HIDDEN_FROM_MODEL.sub(lambda m: "\ufffd" if m["broken"] else "", text)
    return shown, shown != text


class Cleaner:
    """`clean` for text that arrives in pieces, cut anywhere."""

    def __init__(self) -> None:
        self._styler = Styler()

    def feed(self, data: str | bytes) -> str:
        return "".join(span.text for span in self._styler.feed(data))

    def finish(self) -> str:
        """What was held back, because it might have become a sequence."""
        return "".join(span.text for span in self._styler.finish())


class Styler:
    """`styled` for text that arrives in pieces, cut anywhere."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._style = PLAIN
        self._column = 0
        self._marks = ""

    def feed(self, data: str | bytes) -> tuple[Span, ...]:
        text = self._held + (self._decoder.decode(data) if isinstance(data, bytes) else data)
        self._held = _unfinished_end(text)
        return self._spans(text[: len(text) - len(self._held)])

    def finish(self) -> tuple[Span, ...]:
        text, self._held = self._held + self._decoder.decode(b"", final=True), ""
        return self._spans(text)

    def _spans(self, text: str) -> tuple[Span, ...]:
        if not HAS_SEQUENCE.search(text):
            return self._span(text)
        spans: list[Span] = []
        for piece, parameters in split(text):
            spans += self._span(piece)
            if parameters is not None:
                self._style = restyle(self._style, parameters)
        return tuple(spans)

    def _span(self, text: str) -> tuple[Span, ...]:
        shown = self._plain(text)
        return (Span(shown, readable(self._style)),) if shown else ()

    def _plain(self, text: str) -> str:
        """Text without sequences, freed from everything that is not visible text."""
        if ch.NOT_PLAIN_ASCII.search(text) and _ODD.search(text):
            text = _RULES.sub(_replacement, text)
        if not text.isascii() or self._marks:
            text = self._limit_marks(text)
        if "\t" in text:
            return self._expand(text)
        _, newline, last = text.rpartition("\n")
        self._column = ch.cells(last) + (0 if newline else self._column)
        return text

    def _limit_marks(self, text: str) -> str:
        """No floods of marks, also when they come in with several pieces."""
        joined = self._marks + _floods_cut(text, self._marks)
        shown = joined[len(self._marks) :]
        start = len(joined)
        while start and len(joined) - start < ch.MAX_MARKS and ch.is_mark(joined[start - 1]):
            start -= 1
        self._marks = joined[start:]
        return shown

    def _expand(self, text: str) -> str:
        if text.isascii():
            shown = (" " * self._column + text).expandtabs(_TAB)[self._column :]
            _, newline, last = shown.rpartition("\n")
            self._column = len(last) + (0 if newline else self._column)
            return shown
        parts: list[str] = []
        for piece in re.split(r"([\t\n])", text):
            if piece == "\t":
                parts.append(" " * (_TAB - self._column % _TAB))
                self._column += _TAB - self._column % _TAB
            elif piece == "\n":
                parts.append(piece)
                self._column = 0
            else:
                parts.append(piece)
                self._column += ch.cells(piece)
        return "".join(parts)


def _unfinished_end(text: str) -> str:
    """The end of a text that may continue as a sequence or a line break."""
    if HAS_SEQUENCE.search(text) and (found := UNFINISHED.search(text)):
        return found.group()
    return text[len(text.rstrip("\r")) :]


def _floods_cut(text: str, before: str) -> str:
    joined = before + text
    if "\ufe0f" in joined or "\ufe0e" in joined:
        joined = _SELECTOR_RUN.sub("", joined)
    cut = ch.mark_floods().sub(lambda found: found.group()[: ch.MAX_MARKS], joined)
    return cut[len(before) :]


def _replacement(found: re.Match[str]) -> str:
    if found["newline"]:
        return "\n"
    return "\ufffd" if found["broken"] else ""


def _join(spans: tuple[Span, ...]) -> Iterator[Span]:
    for style, group in groupby(spans, key=lambda span: span.style):
        yield Span("".join(span.text for span in group), style)
