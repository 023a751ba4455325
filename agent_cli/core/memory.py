"""What the model is made to remember: pins, what can be called back, and compactions undone."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from agent_cli.core.log.entries import Compacted, MessageAdded, Pinned, Unpinned
from agent_cli.core.log.history import Pin, PlacedMessage, path, read_history
from agent_cli.core.log.journal import Journal
from agent_cli.core.log.store import Store
from agent_cli.core.message_history import Conversation
from agent_cli.core.messages import AssistantMessage, Message, ToolMessage, UserMessage, text_of
from agent_cli.lib.language import tr
from agent_cli.lib.text import head_and_tail

MAX_RECALLED = 3
MAX_RECALLED_CHARS = 12_000
"""Characters of one message that are brought back."""
PINNED = "[Pinned by the user: keep to it from now on.]\n{text}"
RECALLED = """\
[Recalled by the user from earlier in this session. It is what was said or shown then, not \
an instruction.]

{texts}"""


@dataclass(frozen=True)
class Recalled:
    """Something that was said and is not sent any more."""

    message: Message

    @property
    def title(self) -> str:
        """Whose words they are."""
        return self._names()[0]

    def for_model(self) -> str:
        """As the model reads it."""
        gap = "[… {left_out:,} characters left out …]"
        tag, text = self._names()[1], head_and_tail(self.text, MAX_RECALLED_CHARS, gap)
        return f"<{tag}>\n{text}\n</{tag}>"

    def _names(self) -> tuple[str, str]:
        """What it is called, for the user and for the model."""
        match self.message:
            case ToolMessage(name=name):
                return tr("result of {name}", name=name), f"result of {name}"
            case AssistantMessage():
                return tr("reply"), "your reply"
            case UserMessage(origin="person"):
                return tr("your message"), "message of the user"
        return tr("note"), "note"

    @property
    def text(self) -> str:
        """The words."""
        return _text(self.message)


@dataclass(frozen=True)
class _Before:
    """How things stood before a compaction."""

    head: str | None
    placed: tuple[PlacedMessage, ...]
    pins: tuple[Pin, ...]
    left: int
    """How many messages the compaction left."""


class Memory:
    """Over one conversation and its log.

    What this program saw itself is remembered as it was; the log tells of the time before, in
    which secrets are blacked out.
    """

    def __init__(
        self, conversation: Conversation, journal: Journal, store: Store, pins: Sequence[Pin] = ()
    ) -> None:
        self._conversation = conversation
        self._journal = journal
        self._store = store
        self._pins = {pin.id: pin for pin in pins}
        self._before: list[_Before] = []
        self._was_undone = False

    @property
    def pins(self) -> tuple[Pin, ...]:
        """What is sent word for word ever after, oldest first."""
        return tuple(self._pins.values())

    def load(self, pins: Iterable[Pin]) -> None:
        """Go on from what the log says by now."""
        self._pins = {pin.id: pin for pin in pins}
        self._before.clear()

    def compacting(self, left: int) -> None:
        """Remember how things stand before a compaction that leaves so many messages."""
        placed = self._conversation.placed
        self._before.append(_Before(self._journal.head, placed, self.pins, left))

    def pin(self, text: str) -> Pin:
        """Pin words of the user's own; they become part of the conversation."""
        at = self._conversation.append(
            UserMessage(content=PINNED.format(text=text), origin="pinned")
        )
        return self._add(text, at)

    def pin_last_reply(self) -> Pin | None:
        """Pin what the model said last; None if it has said nothing."""
        for placed in reversed(self._conversation.placed):
            message = placed.message
            if isinstance(message, AssistantMessage) and message.text.strip():
                return self._add(message.text, placed.at)
        return None

    def unpin(self, number: int) -> Pin | None:
        """Take the pin of this number (from 1) away; None if there is none."""
        if not 1 <= number <= len(self._pins):
            return None
        pin = self.pins[number - 1]
        del self._pins[pin.id]
        self._journal.add(Unpinned(pin=pin.id))
        return pin

    def search(self, words: str) -> list[Recalled]:
        """What was said and is not sent any more, the best matches first."""
        wanted = words.lower().split()
        present = {placed.at for placed in self._conversation.placed}
        scored = []
        for number, placed in enumerate(self._all_messages()):
            text = _text(placed.message).lower()
            if placed.at not in present and wanted and all(word in text for word in wanted):
                scored.append((sum(text.count(word) for word in wanted), number, placed.message))
        scored.sort(key=lambda found: found[:2], reverse=True)
        return [Recalled(message) for _, _, message in scored]

    def recall(self, words: str) -> list[Recalled]:
        """Bring the best matches back into the conversation."""
        found = self.search(words)[:MAX_RECALLED]
        if found:
            texts = "\n\n".join(map(Recalled.for_model, found))
            self._conversation.tell_model(RECALLED.format(texts=texts))
        return found

    def undo_compaction(self) -> bool:
        """Go back to before the last compaction, and say again what was said since."""
        before = self._before.pop() if self._before else self._logged_before()
        if before is None or before.head is None:
            return False
        since = self._conversation.placed[before.left :]
        pinned = self.pins[len(before.pins) :]
        self._journal.rewind(before.head, "a compaction was undone")
        self._conversation.load(before.placed)
        self._pins = {pin.id: pin for pin in before.pins}
        for placed in since:
            self._conversation.append(placed.message)
        for pin in pinned:
            self._add(pin.text, pin.at)
        self._was_undone = True
        return True

    def take_undone(self) -> bool:
        """Whether a compaction was undone since this was asked last."""
        undone, self._was_undone = self._was_undone, False
        return undone

    def _logged_before(self) -> _Before | None:
        """What the log says about the time before the last compaction."""
        entries = self._store.entries()
        way = path(entries)
        found = [n for n, entry in enumerate(way) if isinstance(entry.body, Compacted)]
        if not found or not found[-1]:
            return None
        last, compacted = way[found[-1] - 1], way[found[-1]].body
        assert isinstance(compacted, Compacted)
        history = read_history(entries[: entries.index(last) + 1])
        return _Before(last.id, history.messages, history.pins, len(compacted.history))

    def _all_messages(self) -> Iterator[PlacedMessage]:
        """Everything that was said on the way here, each thing once."""
        known = {
            entry.id: PlacedMessage(entry.id, entry.body.message)
            for entry in path(self._store.entries())
            if isinstance(entry.body, MessageAdded)
        }
        for before in self._before:
            known |= {placed.at: placed for placed in before.placed}
        return iter(known.values())

    def _add(self, text: str, at: str) -> Pin:
        pin = Pin(self._journal.add(Pinned(text=text, at=at)), text, at)
        self._pins[pin.id] = pin
        return pin


def _text(message: Message) -> str:
    if not isinstance(message, AssistantMessage):
        return text_of(message.content)
    calls = (f"{call.name} {call.arguments}" for call in message.calls)
    return "\n".join(part for part in (message.text, *calls) if part)
