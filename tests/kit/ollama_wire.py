"""Ollama's chat format."""

from __future__ import annotations

import json
from typing import Any

from tests.kit.script import (
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


class OllamaStream:
    """Writes one answer as JSON lines, holding calls back until they are whole."""

    content_type = "application/x-ndjson"

    def __init__(self, body: Json, path: str) -> None:
        self._model = body.get("model", "")
        self._held: list[Calls] = []

    def start(self, usage: Usage) -> bytes:
        return b""

    def write(self, piece: Piece) -> bytes:
        match piece:
            case Text(text):
                return self._line({"content": text})
            case Thinking(text) if text:
                return self._line({"content": "", "thinking": text})
            case Calls():
                self._held.append(piece)
            case Finish(reason, usage):
                calls = gather(self._held).calls
                spoken = self._line({"content": "", "tool_calls": _calls(calls)}) if calls else b""
                return spoken + line(_done(self._model, {"content": ""}, reason, usage))
            case Failure():
                return line(error(piece))
        return b""

    def end(self) -> bytes:
        return b""

    def _line(self, message: Json) -> bytes:
        return line(_envelope(self._model, message))


def line(data: Json) -> bytes:
    return json.dumps(data).encode() + b"\n"


def whole(body: Json, path: str, answer: Answer) -> Json:
    gathered = gather(answer.pieces)
    message: Json = {"content": gathered.text}
    if gathered.thinking:
        message["thinking"] = gathered.thinking
    if gathered.calls:
        message["tool_calls"] = _calls(gathered.calls)
    return _done(body.get("model", ""), message, gathered.finish, answer.usage)


def error(failure: Failure) -> Json:
    return {"error": failure.message or failure.problem}


def _done(model: str, message: Json, reason: str, usage: Usage) -> Json:
    return {
        **_envelope(model, message),
        "done": True,
        "done_reason": "length" if reason == "length" else "stop",
        "prompt_eval_count": usage.prompt,
        "eval_count": usage.output,
    }


def _envelope(model: str, message: Json) -> Json:
    return {
        "model": model,
        "created_at": "2024-01-01T00:00:00Z",
        "message": {"role": "assistant", **message},
        "done": False,
    }


def _calls(calls: list[Call]) -> list[Json]:
    return [{"function": {"name": call.name, "arguments": _arguments(call)}} for call in calls]


def _arguments(call: Call) -> Any:
    try:
        return json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        return {}
