"""What fills the model's window, part by part, in tokens.

An estimate by size, put right by what the provider last reported for a whole request.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from agent_cli.core.messages import (
    AssistantMessage,
    Content,
    ImagePart,
    Message,
    TextPart,
    ToolMessage,
    UserMessage,
)
from agent_cli.core.model import ModelRequest
from agent_cli.lib.language import mark, tr

BYTES_PER_TOKEN = 4
PER_MESSAGE = 4
"""Tokens around a message: its role and its borders."""
PER_IMAGE = 1_500
_INSTRUCTIONS = re.compile(r"<instructions from=.*?\n</instructions>", re.DOTALL)


@dataclass(frozen=True)
class ContextUsage:
    """Tokens of one request by what they are for."""

    system: int = 0
    tools: int = 0
    instructions: int = 0
    files: int = 0
    """Files that were read."""
    output: int = 0
    """What other calls gave."""
    conversation: int = 0
    is_counted: bool = False
    """Put right by what the provider counted, not an estimate alone."""

    @property
    def total(self) -> int:
        """All of it."""
        return sum(count for _, count in self.parts)

    @property
    def parts(self) -> tuple[tuple[str, int], ...]:
        """Each part by name."""
        return tuple((name, getattr(self, name)) for name in WORDS)

    @property
    def largest(self) -> str:
        """The part that fills most, in words."""
        return tr(WORDS[max(self.parts, key=lambda part: part[1])[0]])

    def scale(self, factor: float) -> "ContextUsage":
        """The same parts as the provider counts them."""
        counts = {name: round(count * factor) for name, count in self.parts}
        return replace(self, **counts, is_counted=True)


WORDS = {
    "system": mark("system prompt"),
    "tools": mark("tools"),
    "instructions": mark("instructions"),
    "files": mark("files read"),
    "output": mark("tool output"),
    "conversation": mark("conversation"),
}


class TokenScale:
    """How a model's tokens compare with the estimate, learnt from each reported request."""

    def __init__(self) -> None:
        self._factors: dict[str, float] = {}

    def learn(self, model: str, estimated: int, reported: int) -> None:
        """A request that was estimated had this many tokens in fact."""
        if estimated > 0 and reported > 0:
            self._factors[model] = reported / estimated

    def apply(self, model: str, fill: ContextUsage) -> ContextUsage:
        """The parts as this model counts, if it has reported anything yet."""
        return fill.scale(self._factors[model]) if model in self._factors else fill

    def factor(self, model: str) -> float:
        """What to multiply an estimate with."""
        return self._factors.get(model, 1.0)


def measure(request: ModelRequest, reads_files: Callable[[str], bool]) -> ContextUsage:
    """The estimated parts of a request; `reads_files` knows a tool by its name."""
    instructions = sum(map(tokens, _INSTRUCTIONS.findall(request.system)))
    counted = {"files": 0, "output": 0, "conversation": 0}
    for message in request.messages:
        counted[_part(message, reads_files)] += message_tokens(message)
    return ContextUsage(
        system=max(0, tokens(request.system) - instructions),
        tools=tokens(json.dumps(request.tools, ensure_ascii=False)) if request.tools else 0,
        instructions=instructions,
        files=counted["files"],
        output=counted["output"],
        conversation=counted["conversation"],
    )


def tokens(text: str) -> int:
    """About how many tokens a text has; scripts that take more bytes take more tokens too."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return -(-size // BYTES_PER_TOKEN)


def message_tokens(message: Message) -> int:
    """About how many tokens a message has."""
    match message:
        case AssistantMessage():
            texts = [message.text, *(c.name + c.arguments for c in message.calls)]
            texts += [thought.text for thought in message.thinking]
            return PER_MESSAGE + sum(map(tokens, texts))
        case UserMessage() | ToolMessage():
            return PER_MESSAGE + _content_tokens(message.content)


def messages_tokens(messages: Iterable[Message]) -> int:
    """About how many tokens some messages have."""
    return sum(map(message_tokens, messages))


def _content_tokens(content: Content) -> int:
    if isinstance(content, str):
        return tokens(content)
    count = sum(tokens(part.text) for part in content if isinstance(part, TextPart))
    return count + PER_IMAGE * sum(isinstance(part, ImagePart) for part in content)


def _part(message: Message, reads_files: Callable[[str], bool]) -> str:
    match message:
        case ToolMessage():
            return "files" if reads_files(message.name) else "output"
        case UserMessage(origin="files"):
            return "files"
        case _:
            return "conversation"
