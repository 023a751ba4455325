"""What a session's log may hold: the entry without secrets."""

import json
from collections.abc import Callable
from typing import Any

Redact = Callable[[str], str]

_MIN_CHARS = 8
"""Characters; no secret is shorter."""
_IDS = ("type", "call_id", "request_id", "parent_id")
"""Fields of an event by which others refer to it."""


def without_secrets(entry: dict[str, Any], redact: Redact) -> None:
    """Redact an entry's JSON data in place.

    What a tool gave the model was redacted on its way out of the tool. What the model called is
    JSON in a text, and stays so. A signed thought that would have to be changed loses its
    signature, for a provider would refuse it.
    """
    body = entry["body"]
    match body["kind"]:
        case "message":
            _redact_message(body["message"], redact)
        case "compacted":
            body["ledger"] = _redact(body["ledger"], redact)
            for item in body["history"]:
                if item["type"] == "written":
                    _redact_message(item["message"], redact)
        case "event":
            event = body["event"]
            ids = {name: event[name] for name in _IDS if name in event}
            body["event"] = _redact(event, redact) | ids
        case _:
            entry["body"] = _redact(body, redact)


def _redact_message(message: dict[str, Any], redact: Redact) -> None:
    if message["role"] == "assistant":
        _redact_reply(message, redact)
    elif message["role"] == "user":
        message["content"] = _redact(message["content"], redact)


def _redact_reply(message: dict[str, Any], redact: Redact) -> None:
    message["text"] = redact(message["text"])
    for thought in message["thinking"]:
        if thought["block"] is not None and _redact(thought["block"], redact) != thought["block"]:
            thought["block"] = None
        thought["text"] = redact(thought["text"])
    for call in message["calls"]:
        call["arguments"] = _redacted_json(call["arguments"], redact)


def _redacted_json(text: str, redact: Redact) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return redact(text)
    changed = _redact(value, redact)
    return text if changed == value else json.dumps(changed, ensure_ascii=False)


def _redact(value: Any, redact: Redact) -> Any:
    if isinstance(value, str):
        return redact(value) if len(value) >= _MIN_CHARS else value
    if isinstance(value, list):
        return [_redact(each, redact) for each in value]
    if isinstance(value, dict):
        return {key: _redact(held, redact) for key, held in value.items()}
    return value
