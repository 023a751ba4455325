"""LiteLLM: the only module that imports it, and only inside the worker process.

Its facts and traps are in docs/litellm-notes.md.
"""

import contextlib
import email.utils
import gc
import importlib
import json
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

from agent_cli.lib.language import tr

gc.disable()  # the import makes a million objects that all stay: collecting meanwhile is waste
import litellm  # noqa: E402

with contextlib.suppress(ImportError):
    importlib.import_module("litellm.litellm_core_utils.streaming_handler")
gc.freeze()
gc.enable()

litellm.suppress_debug_info = True
litellm.drop_params = True
litellm.set_verbose = False

Add = Callable[[dict[str, Any]], None]


class BrokenReply(Exception):
    """What came was no reply of a model, or broke off without a word."""


async def complete(request: Mapping[str, Any], add: Add) -> dict[str, Any]:
    """Stream one completion; pieces go to `add`, the rest is returned when it ended properly."""
    stream = await _open(request)
    finish: str | None = None
    usage: Any = None
    has_content = False
    async for chunk in stream:
        usage = getattr(chunk, "usage", None) or usage
        for choice in chunk.choices[:1]:
            finish = choice.finish_reason or finish
            piece = _piece(choice.delta)
            has_content = has_content or bool(piece)
            add(piece)
    _check_end(stream, finish, has_content=has_content)
    return {"finish": finish, "usage": _usage(usage), "cost": _cost(request["model"], usage)}


async def _open(request: Mapping[str, Any], **more: Any) -> Any:
    more |= {"stream": True, "stream_options": {"include_usage": True}, "max_retries": 0}
    return await litellm.acompletion(**request, **more, _skip_mcp_handler=True)


def _check_end(stream: Any, finish: str | None, *, has_content: bool) -> None:
    """LiteLLM makes up a finish for a stream that just stops: tell that from a real one."""
    received = getattr(stream, "received_finish_reason", finish)
    seen = getattr(stream, "intermittent_finish_reason", finish)
    if received is None and seen is None and not has_content:
        headers = getattr(stream, "_hidden_params", {}).get("additional_headers") or {}
        if "html" in str(headers.get("llm_provider-content-type", "")):
            raise BrokenReply(tr("the server answered with a web page"))
        raise BrokenReply(tr("the server answered with nothing a model would say"))
    provider = str(getattr(stream, "custom_llm_provider", ""))
    if received is None and not ("gemini" in provider or "vertex" in provider):  # these never tell
        raise ConnectionError(tr("the reply broke off"))


async def prime(model: str) -> None:
    """Load now what the first request to this model would load: a made-up reply, then a call that
    reaches nobody."""
    tool = {"type": "function", "function": {"name": "t", "parameters": {"type": "object"}}}
    messages = [{"role": "user", "content": "x"}]
    request = {"model": model, "messages": messages, "tools": [tool], "api_key": "none"}
    for answered in ({"mock_response": "x"}, {"api_base": "http://127.0.0.1:9"}):
        with contextlib.suppress(Exception):
            async for _ in await _open(request, **answered):
                pass


def _piece(delta: Any) -> dict[str, Any]:
    """What a delta brings, without what it merely repeats."""
    piece = {
        "text": getattr(delta, "content", None),
        "thinking": getattr(delta, "reasoning_content", None),
        "blocks": [dict(block) for block in getattr(delta, "thinking_blocks", None) or ()],
        "calls": [_call(call) for call in getattr(delta, "tool_calls", None) or ()],
    }
    return {name: value for name, value in piece.items() if value}


def _call(call: Any) -> dict[str, Any]:
    name = getattr(call.function, "name", None)
    arguments = getattr(call.function, "arguments", None) or ""
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments)
    return {"index": call.index, "id": call.id, "name": name, "arguments": arguments}


def _usage(usage: Any) -> dict[str, int]:
    if not usage:
        return {}
    prompt = getattr(usage, "prompt_tokens_details", None)
    completion = getattr(usage, "completion_tokens_details", None)
    cached = getattr(usage, "cache_read_input_tokens", None)
    tokens = {
        "input_tokens": usage.prompt_tokens,
        "output_tokens": usage.completion_tokens,
        "cached_tokens": cached or getattr(prompt, "cached_tokens", None),
        "cache_write_tokens": getattr(usage, "cache_creation_input_tokens", None),
        "reasoning_tokens": getattr(completion, "reasoning_tokens", None),
    }
    return {name: count or 0 for name, count in tokens.items()}


def _cost(model: str, usage: Any) -> float | None:
    """Dollars by LiteLLM's price list; None when it does not know the model."""
    if not usage:
        return None
    try:
        info = litellm.get_model_info(model)
        if not info.get("input_cost_per_token") and not info.get("output_cost_per_token"):
            return None
        prompt, completion = litellm.cost_per_token(model=model, usage_object=usage)
    except Exception:  # a price is never worth an error
        return None
    return float(prompt + completion)


def describe(model: str) -> dict[str, Any]:
    """What LiteLLM's catalogue knows of a model; empty when it knows nothing."""
    try:
        info = litellm.get_model_info(model)
    except Exception:
        return {}
    return _facts(info)


def _facts(info: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "window": info.get("max_input_tokens") or info.get("max_tokens"),
        "input_price": info.get("input_cost_per_token"),
        "output_price": info.get("output_cost_per_token"),
        "cached_price": info.get("cache_read_input_token_cost"),
    }


_OWNERS = {"bedrock": ("bedrock", "bedrock_converse"), "vertex_ai": ("vertex_ai-language-models",)}


def list_models(provider: str) -> list[dict[str, Any]]:
    """The models of a provider that can hold a conversation with tools, by name."""
    owners = _OWNERS.get(provider, (provider,))
    listed = {}
    for name, info in litellm.model_cost.items():
        fits = info.get("mode") == "chat" and info.get("supports_function_calling")
        if info.get("litellm_provider") in owners and fits and not name.startswith("ft:"):
            full = name if name.startswith(f"{provider}/") else f"{provider}/{name}"
            listed[full] = {"name": full, **_facts(info)}
    return [listed[name] for name in sorted(listed)]


_OVERFLOW = re.compile(
    r"context_length_exceeded|maximum context length|context window|prompt is too long"
    r"|too many tokens|exceeds? the (?:maximum|max) (?:number of|input) tokens|input is too long"
    r"|exceeds the available context size|input length and .?max_tokens.? exceed"
    r"|reduce the length of the (?:messages|prompt)|request too large for .*model",
    re.IGNORECASE,
)
_HISTORY = re.compile(
    r"tool_calls.{0,40}must be followed by tool messages|tool_call_id.{0,80}(?:not|without)"
    r"|unexpected `?tool_use_id`?|`?tool_use`? ids were found without"
    r"|messages with role 'tool' must be a response|tool_result.{0,60}corresponding",
    re.IGNORECASE | re.DOTALL,
)
_QUOTA = re.compile(r"insufficient_quota|exceeded your current quota|billing|credit balance", re.I)
_NOT_A_REPLY = re.compile(
    r"Extra data|Expecting value|JSONDecode|Unterminated string|Invalid control", re.I
)
_BY_STATUS = {
    401: "authentication", 402: "quota", 403: "permission", 404: "not_found", 408: "timeout",
    413: "overflow", 429: "rate_limit",
}  # fmt: skip


def describe_error(error: Exception, request: Mapping[str, Any]) -> dict[str, Any]:
    """An exception of LiteLLM's as plain data."""
    source = _innermost(error)
    status = _status(error) or _status(source)
    text = _message(error)
    return {
        "kind": _kind(error, source, status, text),
        "message": text,
        "status": status,
        "retry_after": _retry_after(error) or _retry_after(source),
        "where": request.get("api_base") or "",
    }


def _innermost(error: BaseException) -> BaseException:
    """What a mid-stream wrapper hides."""
    hidden = getattr(error, "original_exception", error)
    return (
        _innermost(hidden) if isinstance(hidden, BaseException) and hidden is not error else error
    )


def _status(error: BaseException) -> int | None:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _kind(error: BaseException, source: BaseException, status: int | None, text: str) -> str:
    names = f"{type(error).__name__} {type(source).__name__}"
    code = str(getattr(error, "code", "")) + str(getattr(error, "body", ""))
    if "ContextWindowExceeded" in names or _OVERFLOW.search(text + code):
        return "overflow"
    if _HISTORY.search(text):
        return "bad_history"
    if status in (402, 429) and _QUOTA.search(text + code):
        return "quota"
    unreadable = isinstance(source.__context__, TypeError | ValueError)
    if isinstance(error, BrokenReply) or unreadable or _NOT_A_REPLY.search(text):
        return "bad_reply"
    if isinstance(error, ConnectionError):
        return "connection"
    if "Timeout" in names or "ReadTimeout" in text:
        return "timeout"
    if "APIConnectionError" in names or (status == 500 and not _was_answered(error, source)):
        return "connection"
    if status is not None and status >= 500:
        return "server"
    return _BY_STATUS.get(status or 400, "bad_request")


def _was_answered(*errors: BaseException) -> bool:
    """Whether a server said anything at all: without it LiteLLM still speaks of a 500."""
    return any(getattr(error, "litellm_response_headers", None) for error in errors)


def _message(error: Exception) -> str:
    """The provider's own words, without LiteLLM's wrapping."""
    text = str(getattr(error, "message", "") or error).strip()
    text = text.split("Traceback (most recent call last)", 1)[0].strip()
    while wrapping := re.match(r"(?:litellm\.)?\w*(?:Error|Exception)\s*[:-]\s*", text):
        text = text[wrapping.end() :]
    if bytes_text := re.fullmatch(r"b(['\"])(.*)\1", text, re.DOTALL):
        text = bytes_text[2]
    return _inner_message(text)[:2000] or type(error).__name__


def _inner_message(text: str) -> str:
    """The `message` of a JSON error body, if the text is or ends with one."""
    start = text.find("{")
    if start < 0:
        return text
    with contextlib.suppress(ValueError, TypeError, RecursionError):
        body = json.loads(text[start:])
        error = body.get("error", body) if isinstance(body, dict) else None
        if isinstance(error, dict) and isinstance(error.get("message"), str):
            code = error.get("code") or error.get("type")
            said = error["message"]
            return f"{said} ({code})" if isinstance(code, str) and code not in said else said
        if isinstance(error, str):
            return error
    return text


def _retry_after(error: BaseException) -> float | None:
    """What a Retry-After header says: seconds, or a date (one that has passed means now)."""
    headers: Any = getattr(error, "litellm_response_headers", None) or {}
    value = headers.get("retry-after") or headers.get("Retry-After") or ""
    with contextlib.suppress(ValueError):
        return max(0.0, float(value))
    with contextlib.suppress(TypeError, ValueError):
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    return None
