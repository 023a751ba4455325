"""What the index wants to know of a log's lines, read without building entries of them."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

MAX_CHARS = 8_000
"""Characters of one message that can be searched for."""
MAX_PROMPT_CHARS = 200

_BULKY = (b'"type":"tool_finished"', b'"role":"tool"', b'"type":"tool_started"')
"""Lines that say nothing the index wants; most bytes of a log stand in them."""
_UNSPACED = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])")


@dataclass
class Digest:
    """Gathered from some lines, in their order."""

    workspace: str = ""
    title: str = ""
    prompt: str = ""
    model: str = ""
    forked_from: str = ""
    created: float = 0.0
    updated: float = 0.0
    turns: int = 0
    messages: int = 0
    cost: float | None = None
    texts: list[str] = field(default_factory=list)
    """What can be searched for."""


def digest(lines: Iterable[bytes]) -> Digest:
    """What the lines say; those that cannot be read are passed over."""
    found = Digest()
    last: Any = None
    for line in lines:
        if any(mark in line[:260] for mark in _BULKY):
            found.messages += b'"role":"tool"' in line[:260]
            last = line
            continue
        try:
            entry = json.loads(line)
            _take(found, entry, entry["body"])
            last = entry
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
    found.updated = _time(last)
    return found


def searchable(text: str) -> str:
    """The text with each character of a script without spaces as a word of its own."""
    return _UNSPACED.sub("\\1\u200b ", text)


def _take(found: Digest, entry: dict[str, Any], body: dict[str, Any]) -> None:
    match body["kind"]:
        case "opened":
            found.workspace, found.model = body["workspace"], body["model"]
            found.forked_from = body["forked_from"]
            found.created = _time(entry)
        case "message":
            found.messages += 1
            _message(found, body["message"])
        case "titled":
            found.title = body["title"]
            found.texts.append(searchable(found.title))
        case "model":
            found.model = body["model"]
        case "event":
            _event(found, body["event"])


def _message(found: Digest, message: dict[str, Any]) -> None:
    text = message.get("text") or message.get("content") or ""
    if not isinstance(text, str):
        text = "\n".join(part.get("text", "") for part in text)
    if message["role"] == "user" and message["origin"] == "person":
        found.prompt = found.prompt or " ".join(text[:MAX_PROMPT_CHARS].split())
    elif message["role"] != "assistant":
        return
    if text:
        found.texts.append(searchable(text[:MAX_CHARS]))


def _event(found: Digest, event: dict[str, Any]) -> None:
    if event["type"] == "turn_started":
        found.turns = max(found.turns, event["turn"])
    elif event["type"] == "usage_changed" and event["step"]["cost"] is not None:
        found.cost = (found.cost or 0.0) + event["step"]["cost"]


def _time(entry: Any) -> float:
    """When an entry was made; of one that was not read, the line itself tells."""
    try:
        if isinstance(entry, bytes):
            entry = {"time": _TIME.search(entry)[1].decode()}  # type: ignore[index]
        return datetime.fromisoformat(entry["time"]).timestamp()
    except (KeyError, TypeError, ValueError):
        return 0.0


_TIME = re.compile(rb'"time":"([^"]{10,40})"')
