"""Making a conversation shorter when it no longer fits."""

from collections.abc import Sequence

from agent_cli.core.messages import Message, ToolMessage, text_of

KEEP_LAST = 4
"""Results that are never thinned: the model is working with them."""
WORTH_THINNING = 400
"""Characters; a shorter result is hardly longer than the note in its place."""


def thin(messages: Sequence[Message]) -> tuple[list[Message], int]:
    """The conversation with old, bulky tool results replaced by a note, and how many were."""
    results = [index for index, each in enumerate(messages) if isinstance(each, ToolMessage)]
    thinned = list(messages)
    count = 0
    for index in results[:-KEEP_LAST]:
        message = messages[index]
        if isinstance(message, ToolMessage) and len(text_of(message.content)) > WORTH_THINNING:
            note = (
                f"[This result of {message.name} was removed to make room. "
                "Make the call again if you need it.]"
            )
            thinned[index] = message.model_copy(update={"content": note})
            count += 1
    return thinned, count
