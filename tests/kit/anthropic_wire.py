"""Anthropic's messages format."""

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
    Piece,
    Text,
    Thinking,
    Usage,
    gather,
    opens,
)

Json = dict[str, Any]

STOP_REASONS = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}

ERRORS: Mapping[str, tuple[str, str]] = {
    "key": ("authentication_error", "invalid x-api-key"),
    "forbidden": ("permission_error", "Your API key does not have permission to use this model."),
    "model": ("not_found_error", "model: nope"),
    "credit": ("billing_error", "Your credit balance is too low to access the Anthropic API."),
    "rate": (
        "rate_limit_error",
        "This request would exceed your organization's rate limit of 50 requests per minute.",
    ),
    "quota": ("rate_limit_error", "You have reached your specified API usage limits."),
    "server": ("api_error", "Internal server error"),
    "unavailable": ("api_error", "Service unavailable"),
    "overloaded": ("overloaded_error", "Overloaded"),
    "context": ("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
    "history": (
        "invalid_request_error",
        "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after:"
        " toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in"
        " the next message.",
    ),
    "bad": ("invalid_request_error", "messages: field required"),
}


class AnthropicStream:
    """Writes one answer as named events, keeping count of the content blocks."""

    content_type = "text/event-stream"

    def __init__(self, body: Json, path: str) -> None:
        self._model = body.get("model", "")
        self._blocks = 0
        self._open: str | None = None
        self._calls: dict[int, tuple[int, str | None]] = {}

    def start(self, usage: Usage) -> bytes:
        message = _envelope(self._model, [], None, {**usage_of(usage), "output_tokens": 1})
        return event("message_start", message=message) + event("ping")

    def write(self, piece: Piece) -> bytes:
        match piece:
            case Text(text):
                return self._spoken("text", {"text": ""}, {"type": "text_delta", "text": text})
            case Thinking(text, signature):
                delta = (
                    {"type": "signature_delta", "signature": signature}
                    if signature
                    else {"type": "thinking_delta", "thinking": text}
                )
                return self._spoken("thinking", {"thinking": "", "signature": ""}, delta)
            case Calls(deltas):
                return b"".join(self._call(delta) for delta in deltas)
            case Finish(reason, usage):
                return self._close() + _last(reason, usage)
            case Failure():
                return event("error", **{k: v for k, v in error(piece).items() if k != "type"})
        return b""

    def end(self) -> bytes:
        return event("message_stop")

    def _spoken(self, kind: str, empty: Json, delta: Json) -> bytes:
        opening = b"" if self._open == kind else self._begin(kind, empty)
        return opening + event("content_block_delta", index=self._blocks - 1, delta=delta)

    def _call(self, delta: CallDelta) -> bytes:
        known = self._calls.get(delta.index)
        opening = b""
        if known is None or opens(known[1], delta):
            opening = self._begin("tool_use", {"id": delta.id, "name": delta.name, "input": {}})
            known = self._calls[delta.index] = (self._blocks - 1, delta.id)
        piece = {"type": "input_json_delta", "partial_json": delta.args}
        return opening + event("content_block_delta", index=known[0], delta=piece)

    def _begin(self, kind: str, content: Json) -> bytes:
        closing = self._close()
        self._open = kind
        self._blocks += 1
        block = {"type": kind, **content}
        return closing + event("content_block_start", index=self._blocks - 1, content_block=block)

    def _close(self) -> bytes:
        if self._open is None:
            return b""
        self._open = None
        return event("content_block_stop", index=self._blocks - 1)


def event(kind: str, **data: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()


def whole(body: Json, path: str, answer: Answer) -> Json:
    gathered = gather(answer.pieces)
    content: list[Json] = []
    if gathered.thinking:
        content.append(
            {
                "type": "thinking",
                "thinking": gathered.thinking,
                "signature": gathered.signature,
            }
        )
    if gathered.text:
        content.append({"type": "text", "text": gathered.text})
    content += [_whole_call(call) for call in gathered.calls]
    reason = STOP_REASONS.get(gathered.finish, gathered.finish)
    return _envelope(body.get("model", ""), content, reason, usage_of(answer.usage))


def error(failure: Failure) -> Json:
    kind, text = ERRORS[failure.problem]
    return {
        "type": "error",
        "error": {"type": kind, "message": failure.message or text},
        "request_id": "req_scripted",
    }


def usage_of(usage: Usage) -> Json:
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_written,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
    }


def _last(reason: str, usage: Usage) -> bytes:
    delta = {"stop_reason": STOP_REASONS.get(reason, reason), "stop_sequence": None}
    return event("message_delta", delta=delta, usage=usage_of(usage))


def _envelope(model: str, content: list[Json], reason: str | None, usage: Json) -> Json:
    return {
        "id": "msg_scripted",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": usage,
    }


def _whole_call(call: Call) -> Json:
    try:
        given = json.loads(call.arguments or "{}")
    except ValueError:
        given = {}
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": given}
