"""The history of a session: appended to, kept as it grows, and always fit to be sent."""

import json
import logging
import uuid
from collections.abc import Callable, Iterable, Sequence

from agent_cli.core.arguments import read_object
from agent_cli.core.messages import AssistantMessage, Message, ToolCall, close_open_calls
from agent_cli.core.store import Store

log = logging.getLogger(__name__)


class Conversation:
    """The messages of a session. Nothing but `replace` changes what was said before."""

    def __init__(
        self, store: Store, messages: Iterable[Message] = (), *, warn: Callable[[str], None]
    ) -> None:
        self._store = store
        self._messages = list(messages)
        self._warn = warn
        self._storing = True

    @property
    def messages(self) -> tuple[Message, ...]:
        """Everything said so far, with a result for each call."""
        return tuple(close_open_calls(self._messages))

    @property
    def ends_in_a_reply(self) -> bool:
        """Whether the model spoke last; not all of them can go on from there."""
        return bool(self._messages) and isinstance(self.messages[-1], AssistantMessage)

    def append(self, message: Message) -> None:
        """Add to the end, and keep it."""
        self._messages.append(message)
        if not self._storing:
            return
        try:
            self._store.append(message)
        except OSError as error:
            self._storing = False
            log.warning("the session cannot be stored: %s", error)
            self._warn(f"This session cannot be stored: {error.strerror or error}.")

    def replace(self, messages: Sequence[Message]) -> None:
        """Put a shorter history in the place of the present one."""
        self._messages = list(messages)

    def close_open_calls(self, why: str) -> None:
        """Give each call of the last reply that has no result the same one."""
        for message in close_open_calls(self._messages, why)[len(self._messages) :]:
            self.append(message)

    def fresh_ids(self, calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
        """The same calls with ids that occur nowhere else; a good id is kept to the byte."""
        used = {
            call.id
            for message in self._messages
            if isinstance(message, AssistantMessage)
            for call in message.calls
        }
        fresh = []
        for call in calls:
            if not call.id or call.id in used:
                call = call.model_copy(update={"id": f"call_{uuid.uuid4().hex[:24]}"})
            used.add(call.id)
            fresh.append(call)
        return tuple(fresh)


def sendable(call: ToolCall) -> ToolCall:
    """The call with arguments every provider takes back: a valid JSON object."""
    try:
        arguments = json.dumps(read_object(call.arguments), ensure_ascii=False)
        arguments.encode()
    except ValueError:
        arguments = "{}"
    if call.arguments == arguments:
        return call
    return call.model_copy(update={"arguments": arguments})
