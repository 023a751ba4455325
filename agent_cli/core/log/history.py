"""What a session's entries come to: the conversation, what was shown, and the rest of its state.

The conversation, what is shown again and the pins are read along the way from the head to the
beginning. Mode, model, title and what was used are read from the whole log: going back in the
conversation neither renames the session nor gives tokens back.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from agent_cli.core import events as ev
from agent_cli.core.errors import FailureType, ToolFailure
from agent_cli.core.log import entries as kinds
from agent_cli.core.messages import (
    INTERRUPTED,
    AssistantMessage,
    Message,
    ToolMessage,
    UserMessage,
    no_result,
    text_of,
)
from agent_cli.core.model import Usage
from agent_cli.core.tool import ToolResult
from agent_cli.lib.language import tr


@dataclass(frozen=True)
class PlacedMessage:
    """A message and where it stands in the log.

    The address is the id of its entry, or `ID.N` for the Nth message of a compaction.
    """

    at: str
    message: Message


@dataclass(frozen=True)
class Pin:
    """Something that is always sent."""

    id: str
    text: str
    at: str = ""
    """The address of the message it was taken from."""


@dataclass(frozen=True)
class History:
    """A session as its log tells it."""

    opened: kinds.SessionOpened | None = None
    messages: tuple[PlacedMessage, ...] = ()
    """The conversation as the model is to read it."""
    missing: tuple[Message, ...] = ()
    """Results the log does not hold because the program ended too early; say them first."""
    events: tuple[ev.Event, ...] = ()
    """What was shown, in the events that show it again."""
    pins: tuple[Pin, ...] = ()
    title: str = ""
    mode: str = ""
    model: str = ""
    usage: Usage = Usage()
    """Of the whole session."""
    last: Usage = Usage()
    """Of the latest request."""
    counted: Sequence[ev.TurnStarted | ev.UsageChanged] = ()
    """Each request of the whole session, and the turns they belong to."""
    turns: int = 0
    root: str | None = None
    """The id of the first entry: following it again is an empty conversation."""
    head: str | None = None
    updated: datetime | None = None
    unknown: int = 0
    """Entries a newer version of the program wrote."""


def read_history(entries: Sequence[kinds.Entry]) -> History:
    """The state of a session whose log holds these entries."""
    way = path(entries)
    walk = _Walk(addresses(entries))
    for entry in way:
        walk.take(entry)
    whole = _Whole()
    for entry in entries:
        whole.take(entry)
    return History(
        **vars(whole),
        messages=tuple(walk.messages),
        missing=tuple(walk.missing()),
        events=tuple(walk.all_events()),
        pins=tuple(walk.pins.values()),
        last=walk.last,
        root=entries[0].id if entries else None,
        head=entries[-1].id if entries else None,
        updated=entries[-1].time if entries else None,
    )


def path(entries: Sequence[kinds.Entry]) -> list[kinds.Entry]:
    """The entries from the beginning to the head, without the branches that were left.

    An entry whose parent cannot be found follows the one before it in the log: a line that was
    damaged takes nothing else with it.
    """
    places = {entry.id: number for number, entry in enumerate(entries)}
    way: list[kinds.Entry] = []
    number = len(entries) - 1
    while number >= 0:
        entry = entries[number]
        way.append(entry)
        if entry.parent is None:
            break
        found = places.get(entry.parent, number - 1)
        number = found if found < number else number - 1
    way.reverse()
    return way


def addresses(entries: Sequence[kinds.Entry]) -> dict[str, Message]:
    """Every message the log holds, on whatever branch, by its address."""
    found: dict[str, Message] = {}
    for entry in entries:
        match entry.body:
            case kinds.MessageAdded(message=message):
                found[entry.id] = message
            case kinds.Compacted():
                found |= {placed.at: placed.message for placed in _read_compacted(entry, found)}
    return found


def _read_compacted(entry: kinds.Entry, known: dict[str, Message]) -> Iterator[PlacedMessage]:
    assert isinstance(entry.body, kinds.Compacted)
    for number, item in enumerate(entry.body.history):
        if not isinstance(item, kinds.KeptMessage):
            yield PlacedMessage(f"{entry.id}.{number}", item.message)
        elif (message := known.get(item.at)) is not None:
            yield PlacedMessage(item.at, message)


@dataclass
class _Walk:
    """What is read along the way to the head."""

    known: dict[str, Message]
    messages: list[PlacedMessage] = field(default_factory=list)
    events: list[ev.Event] = field(default_factory=list)
    pins: dict[str, Pin] = field(default_factory=dict)
    last: Usage = Usage()
    _running: dict[str, ev.ToolStarted] = field(default_factory=dict)
    _finished: dict[str, ToolResult] = field(default_factory=dict)

    def take(self, entry: kinds.Entry) -> None:
        match entry.body:
            case kinds.MessageAdded(message=message):
                self.messages.append(PlacedMessage(entry.id, message))
                self.events += replay_events(message)
            case kinds.EventAdded(event=event):
                self._event(event)
            case kinds.ReplyAbandoned():
                self.events += _deltas(entry.body.thinking, entry.body.text)
            case kinds.Compacted():
                self.messages = list(_read_compacted(entry, self.known))
            case kinds.Pinned(text=text, at=at):
                message_at = self.known.get(at)
                text = text or (_text_of(message_at) if message_at else "")
                self.pins[entry.id] = Pin(entry.id, text, at)
            case kinds.Unpinned(pin=pin):
                self.pins.pop(pin, None)

    def _event(self, event: ev.Event) -> None:
        match event:
            case ev.ToolStarted():
                self._running[event.call_id] = event
            case ev.ToolFinished():
                self._running.pop(event.call_id, None)
                self._finished[event.call_id] = event.result
            case ev.UsageChanged(aside=False):
                self.last = event.step
            case ev.TurnStarted() | ev.TurnFinished():
                self._close()
        self.events.append(event)

    def all_events(self) -> list[ev.Event]:
        self._close()
        return self.events

    def _close(self) -> None:
        """A call that was running when the program ended is not running any more."""
        for started in self._running.values():
            failure = ToolFailure(INTERRUPTED, type=FailureType.CANCELLED)
            result = ToolResult.from_failure(failure, summary=tr("Interrupted"))
            self.events.append(
                ev.ToolFinished(
                    call_id=started.call_id, tool=started.tool, result=result, seconds=0
                )
            )
        self._running.clear()

    def missing(self) -> Iterator[Message]:
        """The results of the last reply's calls that are not in the conversation."""
        given: set[str] = set()
        for placed in reversed(self.messages):
            message = placed.message
            if isinstance(message, ToolMessage):
                given.add(message.call_id)
            elif isinstance(message, AssistantMessage):
                for call in message.calls:
                    if call.id not in given:
                        result = self._finished.get(call.id)
                        yield result.as_message(call) if result else no_result(call, INTERRUPTED)
                return
            else:
                return


@dataclass
class _Whole:
    """What is read from the whole log."""

    opened: kinds.SessionOpened | None = None
    title: str = ""
    mode: str = ""
    model: str = ""
    usage: Usage = Usage()
    counted: list[ev.TurnStarted | ev.UsageChanged] = field(default_factory=list)
    turns: int = 0
    unknown: int = 0

    def take(self, entry: kinds.Entry) -> None:
        match entry.body:  # the most frequent first: logs are long
            case kinds.MessageAdded():
                pass
            case kinds.EventAdded(event=event):
                self._event(event)
            case kinds.SessionOpened():
                self.opened = self.opened or entry.body
                self.mode, self.model = entry.body.mode, entry.body.model
            case kinds.Titled(title=title):
                self.title = title
            case kinds.ModeChanged(mode=mode):
                self.mode = mode
            case kinds.ModelChanged(model=model):
                self.model = model
            case kinds.Unknown():
                self.unknown += 1

    def _event(self, event: ev.Event) -> None:
        match event:
            case ev.UsageChanged():
                self.usage += event.step
                self.counted.append(event)
            case ev.TurnStarted():
                self.turns = max(self.turns, event.turn)
                self.counted.append(event)
            case ev.PlanAnswered(mode=mode):
                self.mode = mode


def replay_events(message: Message) -> Iterator[ev.Event]:
    """The events that show a message as it was shown when it was said."""
    match message:
        case UserMessage(origin="person"):
            yield ev.PromptAdded(text=text_of(message.content))
        case AssistantMessage():
            thinking = "\n".join(each.text for each in message.thinking if each.text)
            yield from _deltas(thinking, message.text)


def _deltas(thinking: str, text: str) -> Iterator[ev.Event]:
    if thinking:
        yield ev.ThinkingDelta(text=thinking)
    if text:
        yield ev.TextDelta(text=text)


def _text_of(message: Message) -> str:
    return message.text if isinstance(message, AssistantMessage) else text_of(message.content)
