"""What a scripted model can be told to do, in terms no provider's wire format has a say in.

A step (`Reply`, `Message`, `Deltas`, `Cut`, `Stall`, `Failure`, `Raw`, `Reset`) answers one
request. The steps that speak become an `CheckResult`: a series of pieces that each
wire writes in its own format.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal

SIGNATURE = "c2lnbmVkIGJ5IHRoZSBzY3JpcHRlZCBtb2RlbA=="

IdMaker = Callable[[], str | None]
"""Gives a call an id where the script names none; None where a provider has no ids."""


@dataclass(frozen=True)
class Usage:
    """Tokens of one request; `input` counts neither the cached nor the cache-written ones."""

    input: int = 11
    output: int = 7
    cache_read: int = 0
    cache_written: int = 0
    reasoning: int = 0

    @property
    def prompt(self) -> int:
        return self.input + self.cache_read + self.cache_written


@dataclass(frozen=True)
class Call:
    """A tool call; a string as `args` is sent as it is, valid JSON or not."""

    name: str
    args: Mapping[str, Any] | str = field(default_factory=dict)
    id: str | None = None

    @property
    def arguments(self) -> str:
        return self.args if isinstance(self.args, str) else json.dumps(self.args)


# ── pieces ────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Text:
    text: str
    usage: Usage | None = None
    """Some servers send the usage so far with every chunk."""


@dataclass(frozen=True)
class Thinking:
    text: str = ""
    signature: str = ""


@dataclass(frozen=True)
class CallDelta:
    """A part of a tool call; a new `id` opens a call, the others add to the call of that index."""

    index: int
    args: str = ""
    id: str | None = None
    name: str | None = None


@dataclass(frozen=True)
class Calls:
    """The call parts that travel in one chunk."""

    deltas: tuple[CallDelta, ...]


@dataclass(frozen=True)
class Finish:
    """The end of the message, in OpenAI's words: stop, tool_calls, length, content_filter."""

    reason: str
    usage: Usage


@dataclass(frozen=True)
class Line:
    """Bytes for the stream that no wire format touches; a blank line is added."""

    data: str


@dataclass(frozen=True)
class Pause:
    """Silence: for some seconds, until the event is set, or with neither for ever."""

    seconds: float | None = None
    until: asyncio.Event | None = None


@dataclass(frozen=True)
class Hangup:
    """The connection ends here: closed early, reset, or ended as if the answer were complete."""

    how: Literal["close", "reset", "end"] = "close"


@dataclass(frozen=True)
class Failure:
    """An HTTP error, or as a piece an error told in the stream.

    Without a `body` each wire writes what its provider sends for the `problem`.
    """

    status: int
    problem: str = ""
    message: str = ""
    body: Mapping[str, Any] | str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Repeat:
    piece: Text | Thinking
    times: int


Piece = Text | Thinking | Calls | Finish | Line | Pause | Hangup | Repeat | Failure


@dataclass(frozen=True)
class Answer:
    pieces: Iterable[Piece]
    usage: Usage


# ── steps ─────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Reply:
    """A well-behaved answer: thinking, then text, then calls."""

    text: str = ""
    thinking: str = ""
    calls: tuple[Call, ...] | list[Call] = ()
    usage: Usage = field(default_factory=Usage)
    finish: str | None = None
    signature: str = SIGNATURE
    delay: float = 0
    """Seconds before each piece."""
    size: int = 12
    """Characters per piece of text, thinking or arguments."""

    def answer(self, new_id: IdMaker) -> Answer:
        return Answer(self._pieces(new_id), self.usage)

    def _pieces(self, new_id: IdMaker) -> Iterator[Piece]:
        for piece in chain(self._spoken(), self._called(new_id), [self._finish()]):
            if self.delay:
                yield Pause(self.delay)
            yield piece

    def _spoken(self) -> Iterator[Piece]:
        for part in self._split(self.thinking):
            yield Thinking(part)
        if self.thinking and self.signature:
            yield Thinking(signature=self.signature)
        for part in self._split(self.text):
            yield Text(part)

    def _called(self, new_id: IdMaker) -> Iterator[Piece]:
        for index, call in enumerate(self.calls):
            identity = call.id if call.id is not None else new_id()
            yield Calls((CallDelta(index, id=identity, name=call.name),))
            for part in self._split(call.arguments):
                yield Calls((CallDelta(index, part),))

    def _finish(self) -> Finish:
        return Finish(self.finish or ("tool_calls" if self.calls else "stop"), self.usage)

    def _split(self, text: str) -> Iterator[str]:
        return (text[at : at + self.size] for at in range(0, len(text), self.size))


@dataclass(frozen=True)
class Message:
    """A whole OpenAI message, well-formed or not; other wires send what they can say of it."""

    message: Mapping[str, Any]
    choices: int = 1
    finish: str = "stop"
    usage: Usage = field(default_factory=Usage)

    def as_reply(self) -> Reply:
        content = self.message.get("content") or ""
        if isinstance(content, list):
            content = "".join(part.get("text", "") for part in content)
        calls = [_call_of(call) for call in self.message.get("tool_calls") or ()]
        return Reply(content, calls=calls, usage=self.usage)

    def answer(self, new_id: IdMaker) -> Answer:
        return self.as_reply().answer(new_id)


def _call_of(call: Mapping[str, Any]) -> Call:
    return Call(call["function"]["name"], call["function"]["arguments"], call.get("id"))


@dataclass(frozen=True)
class Deltas:
    """An answer written piece by piece, for streams that no `Reply` would give."""

    pieces: tuple[Piece, ...]
    usage: Usage = field(default_factory=Usage)

    def answer(self, new_id: IdMaker) -> Answer:
        return Answer(self.pieces, self.usage)


Place = int | Literal["start", "text", "call", "end"]
"""After so many pieces; before any; inside the text; inside the last call; before the finish."""


@dataclass(frozen=True)
class Cut:
    """A reply that breaks off: the connection goes, or the stream reports an `error`."""

    after: Reply
    at: Place = "end"
    how: Literal["close", "reset", "end"] = "close"
    error: Failure | None = None

    def answer(self, new_id: IdMaker) -> Answer:
        spoken, _ = _divide(self.after, self.at, new_id)
        return Answer([*spoken, self.error or Hangup(self.how)], self.after.usage)


@dataclass(frozen=True)
class Stall:
    """A reply that stops in the middle, for ever or until the test sets `until`."""

    after: Reply = field(default_factory=Reply)
    at: Place = "start"
    until: asyncio.Event | None = None
    headers: bool = True
    """Without, even the status line is held back."""

    def answer(self, new_id: IdMaker) -> Answer:
        spoken, rest = _divide(self.after, self.at, new_id)
        return Answer([*spoken, Pause(until=self.until), *rest], self.after.usage)


@dataclass(frozen=True)
class Raw:
    """Bytes as they are, one write each."""

    chunks: tuple[bytes, ...]
    content_type: str = "text/event-stream"
    status: int = 200


@dataclass(frozen=True)
class Reset:
    """The connection is reset before a byte is sent."""


def _divide(reply: Reply, at: Place, new_id: IdMaker) -> tuple[list[Piece], list[Piece]]:
    pieces = list(reply.answer(new_id).pieces)
    where = at if isinstance(at, int) else _place(pieces, at)
    return pieces[:where], pieces[where:]


def _place(pieces: list[Piece], at: str) -> int:
    if at == "start":
        return 0
    if at == "end":
        return len(pieces) - 1
    wanted = Text if at == "text" else Calls
    found = [number for number, piece in enumerate(pieces) if isinstance(piece, wanted)]
    if not found:
        raise ValueError(f"nothing to cut at {at!r} in this reply")
    return found[len(found) // 2] if at == "text" else found[-1]


# ── an answer read as a whole, for requests that do not stream ────────────────────────────────────


@dataclass
class Gathered:
    text: str = ""
    thinking: str = ""
    signature: str = ""
    calls: list[Call] = field(default_factory=list)
    finish: str = "stop"


def gather(pieces: Iterable[Piece]) -> Gathered:
    """Put the pieces together as the provider does for an answer in one body."""
    whole = Gathered()
    texts: list[str] = []
    open_calls: dict[int, int] = {}
    for piece in pieces:
        match piece:
            case Text(text):
                texts.append(text)
            case Repeat(Text(text), times):
                texts.append(text * times)
            case Thinking(text, signature):
                whole.thinking += text
                whole.signature += signature
            case Calls(deltas):
                for delta in deltas:
                    _add(whole.calls, open_calls, delta)
            case Finish(reason):
                whole.finish = reason
    whole.text = "".join(texts)
    return whole


def _add(calls: list[Call], open_calls: dict[int, int], delta: CallDelta) -> None:
    at = open_calls.get(delta.index)
    if at is None or opens(calls[at].id, delta):
        open_calls[delta.index] = len(calls)
        calls.append(Call(delta.name or "", delta.args, delta.id))
        return
    calls[at] = Call(calls[at].name, calls[at].arguments + delta.args, calls[at].id)


def opens(current_id: str | None, delta: CallDelta) -> bool:
    """Whether the part begins a call of its own although its index is known."""
    return delta.id is not None and delta.id != current_id
