"""Gemini's generateContent format."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.kit.script import (
    SIGNATURE,
    Answer,
    Call,
    Calls,
    Failure,
    Finish,
    Piece,
    Text,
    Thinking,
    Usage,
    gather,
)

Json = dict[str, Any]

FINISH_REASONS = {
    "stop": "STOP",
    "tool_calls": "STOP",
    "length": "MAX_TOKENS",
    "content_filter": "SAFETY",
}

ERRORS: Mapping[str, tuple[str, str]] = {
    "key": ("UNAUTHENTICATED", "API key not valid. Please pass a valid API key."),
    "forbidden": ("PERMISSION_DENIED", "Permission denied: the caller may not use this model."),
    "model": ("NOT_FOUND", "models/nope is not found for API version v1beta."),
    "credit": ("FAILED_PRECONDITION", "Billing is not enabled for this project."),
    "rate": ("RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
    "quota": (
        "RESOURCE_EXHAUSTED",
        "You exceeded your current quota, please check your plan and billing details.",
    ),
    "server": ("INTERNAL", "An internal error has occurred."),
    "unavailable": ("UNAVAILABLE", "The service is currently unavailable."),
    "overloaded": ("UNAVAILABLE", "The model is overloaded. Please try again later."),
    "context": (
        "INVALID_ARGUMENT",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ),
    "history": (
        "INVALID_ARGUMENT",
        "Please ensure that function call turn comes immediately after a user turn or after a"
        " function response turn.",
    ),
    "bad": ("INVALID_ARGUMENT", "Request contains an invalid argument."),
}


class GeminiStream:
    """Writes one answer as events, holding calls back until they are whole."""

    content_type = "text/event-stream"

    def __init__(self, body: Json, path: str) -> None:
        self._model = model_of(path)
        self._usage = Usage()
        self._held: list[Calls] = []
        self._signature = ""

    def start(self, usage: Usage) -> bytes:
        self._usage = usage
        return b""

    def write(self, piece: Piece) -> bytes:
        match piece:
            case Text(text):
                return self._chunk([{"text": text}])
            case Thinking(text, signature):
                self._signature = signature or self._signature
                return self._chunk([{"text": text, "thought": True}]) if text else b""
            case Calls():
                self._held.append(piece)
            case Finish(reason):
                return self._finish(reason)
            case Failure():
                return event(error(piece))
        return b""

    def end(self) -> bytes:
        return b""

    def _finish(self, reason: str) -> bytes:
        calls = gather(self._held).calls
        if any(_arguments(call) is None for call in calls):
            return self._chunk([], "MALFORMED_FUNCTION_CALL")
        parts = call_parts(calls, self._signature)
        return self._chunk(parts or [{"text": ""}], FINISH_REASONS.get(reason, reason))

    def _chunk(self, parts: list[Json], reason: str | None = None) -> bytes:
        return event(_envelope(self._model, parts, reason, self._usage))


def event(data: Json) -> bytes:
    return f"data: {json.dumps(data)}\r\n\r\n".encode()


def whole(body: Json, path: str, answer: Answer) -> Json:
    gathered = gather(answer.pieces)
    parts: list[Json] = []
    if gathered.thinking:
        parts.append({"text": gathered.thinking, "thought": True})
    if gathered.text:
        parts.append({"text": gathered.text})
    reason = FINISH_REASONS.get(gathered.finish, gathered.finish)
    if any(_arguments(call) is None for call in gathered.calls):
        reason = "MALFORMED_FUNCTION_CALL"
    else:
        parts += call_parts(gathered.calls, gathered.signature)
    return _envelope(model_of(path), parts, reason, answer.usage)


def error(failure: Failure) -> Json:
    status, text = ERRORS[failure.problem]
    return {
        "error": {
            "code": failure.status,
            "message": failure.message or text,
            "status": status,
        }
    }


def usage_of(usage: Usage) -> Json:
    counts = {
        "promptTokenCount": usage.prompt,
        "candidatesTokenCount": usage.output - usage.reasoning,
        "totalTokenCount": usage.prompt + usage.output,
    }
    if usage.cache_read:
        counts["cachedContentTokenCount"] = usage.cache_read
    if usage.reasoning:
        counts["thoughtsTokenCount"] = usage.reasoning
    return counts


def call_parts(calls: list[Call], signature: str) -> list[Json]:
    """The calls as parts; only the first of a step carries the signature."""
    parts: list[Json] = []
    for call in calls:
        identity = {"id": call.id} if call.id else {}
        function = {"name": call.name, "args": _arguments(call), **identity}
        parts.append({"functionCall": function})
    if parts:
        parts[0]["thoughtSignature"] = signature or SIGNATURE
    return parts


def model_of(path: str) -> str:
    return path.rpartition("/")[2].partition(":")[0]


def _arguments(call: Call) -> Json | None:
    """The arguments as the object Gemini always sends; None if the text is no object."""
    try:
        given = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        return None
    return given if isinstance(given, dict) else None


def _envelope(model: str, parts: list[Json], reason: str | None, usage: Usage) -> Json:
    candidate: Json = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if reason:
        candidate["finishReason"] = reason
    return {
        "candidates": [candidate],
        "usageMetadata": usage_of(usage),
        "modelVersion": model,
        "responseId": "scripted",
    }
