"""The history of a session: appended to, kept as it grows, and always fit to be sent."""

import json
import uuid
from collections.abc import Iterable, Sequence

from agent_cli.core.call_arguments import read_object
from agent_cli.core.compaction.compaction_report import CompactionLine
from agent_cli.core.log.entries import AddedMessage, Compacted, HistoryItem, KeptMessage
from agent_cli.core.log.history import PlacedMessage
from agent_cli.core.log.journal import Journal
from agent_cli.core.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    UserMessage,
    close_open_calls,
)


class Conversation:
    """The messages of a session. Nothing but `replace` changes what was said before."""

    def __init__(
        self,
        journal: Journal,
        placed: Iterable[PlacedMessage] = (),
        *,
        home: "Conversation | None" = None,
    ) -> None:
        self._journal = journal
        self._placed = list(placed)
        self._home = home
        """With an agent that was sent: the session's own conversation."""
        self._foreign_ids: set[str] = set()
        """Ids of calls that agents of the session made."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """Everything said so far, with a result for each call."""
        return tuple(close_open_calls(self._messages))

    @property
    def placed(self) -> tuple[PlacedMessage, ...]:
        """Everything said so far, with where it stands in the log."""
        return tuple(self._placed)

    @property
    def ends_in_a_reply(self) -> bool:
        """Whether the model spoke last; not all of them can go on from there."""
        return bool(self._placed) and isinstance(self.messages[-1], AssistantMessage)

    @property
    def _messages(self) -> list[Message]:
        return [placed.message for placed in self._placed]

    @property
    def _taken_ids(self) -> set[str]:
        """The ids of all calls of the session: events and checkpoints go by them."""
        replies = (m for m in self._messages if isinstance(m, AssistantMessage))
        ids = {call.id for reply in replies for call in reply.calls} | self._foreign_ids
        return ids | self._home._taken_ids if self._home is not None else ids

    def append(self, message: Message) -> str:
        """Add to the end, and keep it; returns its address in the log."""
        at = self._journal.say(message)
        self._placed.append(PlacedMessage(at, message))
        return at

    def tell_model(self, text: str) -> None:
        """Something the model should know before its next step."""
        self.append(UserMessage(content=text, origin="program"))

    def replace(
        self,
        messages: Sequence[Message],
        *,
        reason: str = "",
        ledger: Sequence[CompactionLine] = (),
    ) -> str:
        """Put another history in the place of the present one; returns the id of its entry.

        Messages of the present one are recognised and only referred to.
        """
        places = {id(placed.message): placed for placed in self._placed}
        items: list[HistoryItem] = []
        for message in messages:
            found = places.get(id(message))
            items.append(KeptMessage(at=found.at) if found else AddedMessage(message=message))
        history = Compacted(reason=reason, history=tuple(items), ledger=tuple(ledger))
        entry = self._journal.add(history)
        self._placed = [
            places.get(id(message)) or PlacedMessage(f"{entry}.{number}", message)
            for number, message in enumerate(messages)
        ]
        return entry

    def load(self, placed: Iterable[PlacedMessage]) -> None:
        """Go on from what the log says by now."""
        self._placed = list(placed)

    def close_open_calls(self, why: str) -> None:
        """Give each call of the last reply that has no result the same one."""
        for message in close_open_calls(self._messages, why)[len(self._placed) :]:
            self.append(message)

    def fresh_ids(self, calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
        """The same calls with ids that occur nowhere else; a good id is kept to the byte."""
        used = self._taken_ids
        fresh = []
        for call in calls:
            if not call.id or call.id in used:
                call = call.model_copy(update={"id": f"call_{uuid.uuid4().hex[:24]}"})
            used.add(call.id)
            fresh.append(call)
        if self._home is not None:
            self._home._foreign_ids |= {call.id for call in fresh}
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
