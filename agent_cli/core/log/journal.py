"""Writes a session's entries as things happen, each after the one before it."""

import logging
from collections.abc import Callable

from agent_cli.core.events import Event, ModelRetrying, TextDelta, ThinkingDelta, TurnFinished
from agent_cli.core.log.entries import (
    PASSING,
    Entry,
    EventAdded,
    KnownBody,
    MessageAdded,
    ReplyAbandoned,
    Rewound,
    new_entry,
)
from agent_cli.core.log.store import Store
from agent_cli.core.messages import AssistantMessage, Message
from agent_cli.lib.language import mark, tr

log = logging.getLogger(__name__)

MAX_WAITING = 10_000
"""Entries that are held back while nothing can be written."""
_CONTINUES = mark("The session continues. New messages will be saved once writing works again.")


class Journal:
    """The growing end of a session's log.

    Nothing is written before something is said: a session that was only looked at leaves no file.
    What cannot be written waits, and is written as soon as that is possible again.
    """

    def __init__(
        self,
        store: Store,
        *,
        root: str | None = None,
        head: str | None = None,
        warn: Callable[[str, str], None],
    ) -> None:
        self._store = store
        self._warn = warn
        self.root = root
        """The first entry, once there is one."""
        self.head = head
        """The entry the next one follows."""
        self.has_begun = head is not None
        """Whether something was said, so that there is something to resume."""
        self._waiting: list[Entry] = []
        self._is_failing = False
        self._thinking: list[str] = []
        self._text: list[str] = []

    def add(self, body: KnownBody) -> str:
        """Keep something; returns the id of its entry."""
        return self._append(body, self.head)

    def say(self, message: Message) -> str:
        """Keep a message; returns the id of its entry."""
        if isinstance(message, AssistantMessage):
            self._settle(thinking=not message.thinking, text=not message.text)
        at = self.add(MessageAdded(message=message))
        if isinstance(message, AssistantMessage):
            self._empty_partial()
        return at

    def note(self, event: Event) -> None:
        """Keep an event, before anybody is shown it."""
        match event:
            case TextDelta(text=text):
                self._text.append(text)
                self._stream(event)
            case ThinkingDelta(text=text):
                self._thinking.append(text)
                self._stream(event)
            case ModelRetrying() | TurnFinished():
                if self._settle(thinking=True, text=True):
                    self._empty_partial()
        if not isinstance(event, PASSING):
            self.add(EventAdded(event=event))

    def rewind(self, to: str | None, reason: str = "") -> str:
        """Go on from an earlier entry; returns the id of the entry that says so."""
        return self._append(Rewound(reason=reason), to)

    def sync(self) -> None:
        """Make sure of what was written, as far as the machine allows."""
        try:
            self._store.sync()
        except OSError as error:
            log.warning("the session's log cannot be synchronised: %s", error)

    def _append(self, body: KnownBody, parent: str | None) -> str:
        entry = new_entry(body, parent)
        self.head = entry.id
        self.root = self.root or entry.id
        self.has_begun = self.has_begun or isinstance(body, MessageAdded | EventAdded)
        self._waiting.append(entry)
        if self.has_begun:
            self._write()
        return entry.id

    def _write(self) -> None:
        try:
            while self._waiting:
                self._store.append(self._waiting[0])
                del self._waiting[0]
        except OSError as error:
            del self._waiting[MAX_WAITING:]
            if not self._is_failing:
                self._is_failing = True
                log.warning("the session cannot be stored: %s", error)
                said = tr("This session can't be saved: {error}.", error=error.strerror or error)
                self._warn(said, tr(_CONTINUES))
            return
        self._is_failing = False

    def _stream(self, delta: TextDelta | ThinkingDelta) -> None:
        if not self._is_failing and self.head is not None:
            try:
                self._store.stream(delta, after=self.head)
            except OSError as error:  # the message itself will say so to the user
                log.warning("a piece of the reply cannot be stored: %s", error)

    def _settle(self, *, thinking: bool, text: bool) -> bool:
        """Keep what was shown of a reply and is in no message; whether there was any."""
        thought = "".join(self._thinking) if thinking else ""
        said = "".join(self._text) if text else ""
        self._thinking.clear()
        self._text.clear()
        if not (thought or said):
            return False
        self.add(ReplyAbandoned(thinking=thought, text=said))
        return True

    def _empty_partial(self) -> None:
        if self._waiting:
            return  # the pieces are all there is of it on disk
        try:
            self._store.stream_ended()
        except OSError as error:
            log.warning("the pieces of a reply cannot be removed: %s", error)
