"""The wire formats the scripted server speaks, found by the path of a request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from tests.kit import anthropic_wire, gemini_wire, ollama_wire, openai_wire
from tests.kit.script import Answer, Failure, Piece, Usage

Json = dict[str, Any]


class Stream(Protocol):
    """Writes one answer in a wire's format, piece by piece."""

    content_type: str

    def start(self, usage: Usage) -> bytes: ...

    def write(self, piece: Piece) -> bytes: ...

    def end(self) -> bytes: ...


@dataclass(frozen=True)
class Wire:
    name: str
    stream: Callable[[Json, str], Stream]
    whole: Callable[[Json, str, Answer], Json]
    error: Callable[[Failure], Json]
    id_prefix: str | None
    """How the provider's call ids begin; None if it gives none."""


OPENAI = Wire(
    "openai", openai_wire.OpenAIStream, openai_wire.whole, openai_wire.error, id_prefix="call_"
)
ANTHROPIC = Wire(
    "anthropic",
    anthropic_wire.AnthropicStream,
    anthropic_wire.whole,
    anthropic_wire.error,
    id_prefix="toolu_",
)
GEMINI = Wire(
    "gemini", gemini_wire.GeminiStream, gemini_wire.whole, gemini_wire.error, id_prefix=None
)
OLLAMA = Wire(
    "ollama", ollama_wire.OllamaStream, ollama_wire.whole, ollama_wire.error, id_prefix=None
)


def wire_of(path: str) -> Wire | None:
    if path.endswith("/chat/completions"):
        return OPENAI
    if path.endswith("/messages"):
        return ANTHROPIC
    if path.endswith(("enerateContent", "enerateContent/")):
        return GEMINI
    if path.endswith("/api/chat"):
        return OLLAMA
    return None


def streams(wire: Wire, path: str, body: Json) -> bool:
    if wire is GEMINI:
        return ":stream" in path
    return bool(body.get("stream", wire is OLLAMA))
