"""Puts a reply together from pieces as providers really send them.

Seen in the wild: id and name on every piece, index 0 for all calls, indices with holes, ids that
change midway, a last piece that repeats the whole call. A new call starts with a new index, or
with a new id once the call before it is complete.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from agent_cli.core.messages import AssistantMessage, Thinking, ToolCall
from agent_cli.core.model import Finish
from agent_cli.lib.encodings import readable

_FINISH = {
    "stop": Finish.STOP,
    "tool_calls": Finish.CALLS,
    "function_call": Finish.CALLS,
    "length": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "content_filter": Finish.FILTER,
}


@dataclass
class _Call:
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)

    @property
    def is_complete(self) -> bool:
        text = self.arguments.strip()
        if not text.startswith("{") or not text.endswith("}"):
            return False
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return False
        return True

    def finished(self) -> ToolCall:
        name = encodable(self.name) or "unnamed"
        return ToolCall(id=encodable(self.id), name=name, arguments=encodable(self.arguments))


@dataclass
class Assembler:
    """One reply in the making."""

    model: str
    vendor: str
    _text: list[str] = field(default_factory=list)
    _thinking: list[str] = field(default_factory=list)
    _blocks: list[dict[str, Any]] = field(default_factory=list)
    _calls: list[_Call] = field(default_factory=list)
    _by_index: dict[int, _Call] = field(default_factory=dict)

    def add(self, piece: dict[str, Any]) -> None:
        """Take one piece."""
        self._text.append(piece.get("text", ""))
        self._thinking.append(piece.get("thinking", ""))
        self._blocks.extend(piece.get("blocks", ()))
        for call in piece.get("calls", ()):
            self._add_call(call)

    @property
    def has_calls(self) -> bool:
        """Whether the model wishes to call anything."""
        return bool(self._calls)

    def message(self) -> AssistantMessage:
        """The reply so far."""
        text, calls = encodable("".join(self._text)), tuple(call.finished() for call in self._calls)
        return AssistantMessage(text=text, thinking=self._thoughts(), calls=calls, model=self.model)

    def finish(self, said: str | None) -> Finish:
        """Why the reply ended, by the provider's word and by what came."""
        finish = _FINISH.get(said or "", Finish.STOP)
        return Finish.CALLS if finish is Finish.STOP and self._calls else finish

    def _add_call(self, piece: dict[str, Any]) -> None:
        index = piece.get("index") or 0
        arguments = piece.get("arguments") or ""
        given_id, name = piece.get("id") or "", piece.get("name") or ""
        call = self._by_index.get(index)
        starts_anew = (
            call is not None
            and bool(given_id and call.id and given_id != call.id)
            and (call.is_complete or not call.pieces)
        )
        if call is None or starts_anew:
            call = _Call()
            self._by_index[index] = call
            self._calls.append(call)
        call.id = call.id or given_id
        call.name = name or call.name
        repeats = arguments and arguments == call.arguments and call.is_complete
        if arguments and not repeats:
            call.pieces.append(arguments)

    def _thoughts(self) -> tuple[Thinking, ...]:
        """Signed blocks are merged as the provider wants them back; else there is only text."""
        text = encodable("".join(self._thinking))
        blocks = _merge(self._blocks)
        if not blocks:
            return (Thinking(text=text, vendor=self.vendor),) if text else ()
        return tuple(
            Thinking(text=encodable(str(b.get("thinking", ""))), vendor=self.vendor, block=b)
            for b in blocks
        )


def _merge(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Streamed thinking comes in pieces, the signature in the last one of each block."""
    merged: list[dict[str, Any]] = []
    is_open = False
    for block in blocks:
        if block.get("type") != "thinking":
            merged.append(dict(block))
            is_open = False
        elif is_open:
            merged[-1]["thinking"] += block.get("thinking") or ""
            if block.get("signature"):
                merged[-1]["signature"] = block["signature"]
                is_open = False
        else:
            merged.append({**block, "thinking": block.get("thinking") or ""})
            is_open = not block.get("signature")
    return [b for b in merged if b.get("type") != "thinking" or b.get("signature")]


def encodable(text: str) -> str:
    """The text without lone surrogates and NUL, which no provider takes back."""
    return readable(text).replace("\0", "")
