"""OpenAI's chat completions format."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.kit.script import (
    Answer,
    Call,
    CallDelta,
    Calls,
    Failure,
    Finish,
    Message,
    Piece,
    Text,
    Thinking,
    Usage,
    gather,
)

Json = dict[str, Any]

ERRORS: Mapping[str, tuple[str, str | None, str]] = {
    "key": ("invalid_request_error", "invalid_api_key", "Incorrect API key provided: sk-wrong."),
    "forbidden": (
        "invalid_request_error",
        "model_not_allowed",
        "Project has no access to this model.",
    ),
    "model": (
        "invalid_request_error",
        "model_not_found",
        "The model `nope` does not exist or you do not have access to it.",
    ),
    "credit": ("insufficient_quota", "payment_required", "Insufficient credits."),
    "rate": (
        "requests",
        "rate_limit_exceeded",
        "Rate limit reached: too many requests.",
    ),
    "quota": (
        "insufficient_quota",
        "insufficient_quota",
        "You exceeded your current quota, please check your plan and billing details.",
    ),
    "server": ("server_error", None, "The server had an error while processing your request."),
    "unavailable": ("server_error", None, "The engine is currently overloaded."),
    "overloaded": ("server_error", "overloaded", "Overloaded."),
    "context": (
        "invalid_request_error",
        "context_length_exceeded",
        "This model's maximum context length is 128000 tokens. However, your messages"
        " resulted in 210000 tokens.",
    ),
    "history": (
        "invalid_request_error",
        None,
        "An assistant message with 'tool_calls' must be followed by tool messages responding to"
        " each 'tool_call_id'. The following tool_call_ids did not have response messages: call_1",
    ),
    "bad": ("invalid_request_error", None, "Invalid request."),
}


class OpenAIStream:
    """Writes one answer as server-sent events."""

    content_type = "text/event-stream"

    def __init__(self, body: Json, path: str) -> None:
        self._model = body.get("model", "")
        self._usage_wanted = bool((body.get("stream_options") or {}).get("include_usage"))
        self._usage = Usage()

    def start(self, usage: Usage) -> bytes:
        self._usage = usage
        return self._delta({"role": "assistant", "content": ""})

    def write(self, piece: Piece) -> bytes:
        match piece:
            case Text(text, usage):
                return self._delta({"content": text}, usage=usage)
            case Thinking(text) if text:
                return self._delta({"reasoning_content": text})
            case Calls(deltas):
                return self._delta({"tool_calls": [_call_delta(delta) for delta in deltas]})
            case Finish(reason):
                return self._delta({}, reason)
            case Failure():
                return event(error(piece))
        return b""

    def end(self) -> bytes:
        last = event(self._chunk([], self._usage)) if self._usage_wanted else b""
        return last + b"data: [DONE]\n\n"

    def message(self, message: Message) -> bytes:
        """A whole message in one delta, with whatever is wrong in it."""
        delta = {"role": "assistant", **message.message}
        if calls := delta.get("tool_calls"):
            delta["tool_calls"] = [{"index": at, **call} for at, call in enumerate(calls)]
        choices = [
            {"index": at, "delta": delta, "finish_reason": message.finish}
            for at in range(message.choices)
        ]
        return event(self._chunk(choices))

    def _delta(self, delta: Json, reason: str | None = None, usage: Usage | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return event(self._chunk([choice], usage))

    def _chunk(self, choices: list[Json], usage: Usage | None = None) -> Json:
        chunk = _envelope("chat.completion.chunk", self._model, choices)
        return chunk if usage is None else {**chunk, "usage": usage_of(usage)}


def event(data: Json) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()


def whole(body: Json, path: str, answer: Answer) -> Json:
    gathered = gather(answer.pieces)
    message: Json = {"role": "assistant", "content": gathered.text or None}
    if gathered.thinking:
        message["reasoning_content"] = gathered.thinking
    if gathered.calls:
        message["tool_calls"] = [_whole_call(call) for call in gathered.calls]
    choice = {"index": 0, "message": message, "finish_reason": gathered.finish}
    response = _envelope("chat.completion", body.get("model", ""), [choice])
    return {**response, "usage": usage_of(answer.usage)}


def whole_message(body: Json, message: Message) -> Json:
    choices = [
        {
            "index": at,
            "message": {"role": "assistant", **message.message},
            "finish_reason": message.finish,
        }
        for at in range(message.choices)
    ]
    response = _envelope("chat.completion", body.get("model", ""), choices)
    return {**response, "usage": usage_of(message.usage)}


def error(failure: Failure) -> Json:
    kind, code, text = ERRORS[failure.problem]
    message = failure.message or text
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def usage_of(usage: Usage) -> Json:
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.output,
        "total_tokens": usage.prompt + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def _envelope(kind: str, model: str, choices: list[Json]) -> Json:
    return {
        "id": "chatcmpl-scripted",
        "object": kind,
        "created": 1_700_000_000,
        "model": model,
        "choices": choices,
    }


def _call_delta(delta: CallDelta) -> Json:
    if delta.name is None:
        return {"index": delta.index, "function": {"arguments": delta.args}}
    function = {"name": delta.name, "arguments": delta.args}
    return {"index": delta.index, "id": delta.id, "type": "function", "function": function}


def _whole_call(call: Call) -> Json:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}
