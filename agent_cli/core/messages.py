"""The conversation in our own words, so that it survives a change of provider.

What only one vendor understands (signed thinking, for instance) rides along in `Thinking.vendor`
and is sent back to that vendor alone.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, Field, JsonValue


class Part(BaseModel, frozen=True):
    """The base of everything in a conversation."""


class TextPart(Part):
    """Text inside a message."""

    type: Literal["text"] = "text"
    text: str


class ImagePart(Part):
    """A picture inside a message, base64-encoded."""

    type: Literal["image"] = "image"
    media_type: str
    data: str


ContentPart = Annotated[TextPart | ImagePart, Field(discriminator="type")]
Content = str | tuple[ContentPart, ...]


def text_of(content: Content) -> str:
    """The text of some content; pictures are named."""
    if isinstance(content, str):
        return content
    return "\n".join(
        part.text if isinstance(part, TextPart) else f"[{part.media_type} image]"
        for part in content
    )


class ToolCall(Part):
    """The model's wish to run a tool. `arguments` is JSON text as the model wrote it."""

    id: str
    name: str
    arguments: str = "{}"


class Thinking(Part):
    """Reasoning the model showed, with the vendor's own block where it must be sent back."""

    text: str = ""
    vendor: str = ""
    block: dict[str, JsonValue] | None = None


class UserMessage(Part):
    """What the user said, or what was said on the program's own account."""

    role: Literal["user"] = "user"
    content: Content
    origin: Literal["person", "program", "summary", "pinned", "files"] = "person"
    """Whose words they are: the user's, the program's, a model's summary of what was said, what
    the user pinned, or files read from disk."""


class AssistantMessage(Part):
    """What the model said and which calls it wishes to make."""

    role: Literal["assistant"] = "assistant"
    text: str = ""
    thinking: tuple[Thinking, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    model: str = ""
    interrupted: bool = False


class ToolMessage(Part):
    """The one result of one call."""

    role: Literal["tool"] = "tool"
    call_id: str
    name: str
    content: Content
    is_error: bool = False
    is_declined: bool = False
    """The user said no."""


Message = Annotated[UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")]

INTERRUPTED = "Interrupted by the user before it finished. It may have had some effect."


def close_open_calls(messages: Sequence[Message], why: str = INTERRUPTED) -> list[Message]:
    """The same conversation with exactly one result after each call, in the order of the calls.

    Providers refuse a history in which a call has no result, has two, or a result has no call.
    """
    closed: list[Message] = []
    position = 0
    while position < len(messages):
        message = messages[position]
        position += 1
        if isinstance(message, ToolMessage):
            continue  # a result without its call
        closed.append(message)
        if isinstance(message, AssistantMessage) and message.calls:
            given: dict[str, ToolMessage] = {}
            while position < len(messages) and isinstance(
                result := messages[position], ToolMessage
            ):
                given.setdefault(result.call_id, result)
                position += 1
            closed.extend(given.get(call.id) or no_result(call, why) for call in message.calls)
    return closed


def no_result(call: ToolCall, why: str) -> ToolMessage:
    """The result of a call that has none of its own."""
    return ToolMessage(call_id=call.id, name=call.name, content=why, is_error=True)
