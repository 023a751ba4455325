"""Our conversation in the OpenAI message format that LiteLLM takes for every provider."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from agent_cli.core.messages import (
    AssistantMessage,
    Content,
    ImagePart,
    Message,
    TextPart,
    ToolMessage,
    UserMessage,
)

SENDS_REASONING_BACK = frozenset({"deepseek", "moonshot"})
"""Vendors that want their reasoning text back during a turn."""


def vendor_of(model: str) -> str:
    """Whose conventions a model follows: the name's prefix, or what the name itself says."""
    prefix, slash, rest = model.partition("/")
    name = (rest if slash else prefix).lower()
    if "claude" in name:
        return "anthropic"
    if "gemini" in name:
        return "gemini"
    return prefix.lower() if slash else "openai"


def request_messages(system: str, messages: Sequence[Message], model: str) -> list[dict[str, Any]]:
    """The whole conversation for one provider. The same history gives the same bytes."""
    vendor = vendor_of(model)
    sent: list[dict[str, Any]] = []
    if system:
        sent.append({"role": "system", "content": system})
    sent.extend(_message(message, vendor) for message in messages)
    if vendor == "anthropic":
        _mark_for_cache(sent)
    return sent


def _message(message: Message, vendor: str) -> dict[str, Any]:
    match message:
        case UserMessage():
            return {"role": "user", "content": _content(message.content)}
        case ToolMessage():
            told = {"name": message.name, "content": _content(message.content)}
            return {"role": "tool", "tool_call_id": legal_id(message.call_id, vendor), **told}
        case AssistantMessage():
            return _assistant(message, vendor)


def _assistant(message: AssistantMessage, vendor: str) -> dict[str, Any]:
    sent: dict[str, Any] = {"role": "assistant", "content": message.text or None}
    if message.calls:
        sent["tool_calls"] = [
            {
                "id": legal_id(call.id, vendor),
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.calls
        ]
    elif not message.text:
        sent["content"] = "(no text)"
    own = [thought for thought in message.thinking if thought.vendor == vendor]
    if blocks := [thought.block for thought in own if thought.block]:
        sent["thinking_blocks"] = blocks
    elif own and vendor in SENDS_REASONING_BACK:
        sent["reasoning_content"] = "".join(thought.text for thought in own)
    return sent


def _content(content: Content) -> str | list[dict[str, Any]]:
    if isinstance(content, str):
        return content
    return [_part(part) for part in content]


def _part(part: TextPart | ImagePart) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    url = f"data:{part.media_type};base64,{part.data}"
    return {"type": "image_url", "image_url": {"url": url}}


def legal_id(call_id: str, vendor: str) -> str:
    """The id as this vendor takes it. Gemini's carry a signature and stay as they are."""
    if vendor in ("gemini", "vertex_ai"):
        return call_id
    if vendor == "mistral":
        legal = re.fullmatch(r"[a-zA-Z0-9]{9}", call_id)
        return call_id if legal else hashlib.sha256(call_id.encode()).hexdigest()[:9]
    if re.fullmatch(r"[a-zA-Z0-9_-]{1,40}", call_id):
        return call_id
    return f"call_{hashlib.sha256(call_id.encode()).hexdigest()[:24]}"


def _mark_for_cache(sent: list[dict[str, Any]]) -> None:
    """Breakpoints after the system prompt and the newest two things said to the model."""
    heard = [message for message in sent if message["role"] in ("user", "tool")]
    for message in [*sent[:1], *heard[-2:]]:
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if parts and message["role"] in ("system", "user", "tool"):
            last: Mapping[str, Any] = parts[-1]
            marked = {**last, "cache_control": {"type": "ephemeral"}}
            message["content"] = [*parts[:-1], marked]
