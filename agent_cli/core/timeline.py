"""The past of a session: what was said, kept in its log, named, and gone back in."""

from collections.abc import Callable
from typing import Literal

from agent_cli.core.log.entries import ModeChanged, ModelChanged, SessionOpened, Titled
from agent_cli.core.log.history import History, read_history
from agent_cli.core.log.journal import Journal
from agent_cli.core.log.store import Store
from agent_cli.core.log.titling import as_title
from agent_cli.core.memory import Memory
from agent_cli.core.message_history import Conversation


class Timeline:
    """Where a session is in its log."""

    def __init__(self, store: Store, past: History, warn: Callable[[str, str], None]) -> None:
        self._store = store
        self.journal = Journal(store, root=past.root, head=past.head, warn=warn)
        self.conversation = Conversation(self.journal, past.messages)
        self.memory = Memory(self.conversation, self.journal, store, past.pins)
        self.title = past.title
        """What the session is called; empty: nothing yet."""

    def begin(self, opened: SessionOpened, past: History) -> None:
        """The first entry, or those a program that ended too early did not get to write."""
        if past.head is None:
            self.journal.add(opened)
            return
        for message in past.missing:
            self.conversation.append(message)
        if opened.mode != past.mode:
            self.journal.add(ModeChanged(mode=opened.mode))
        if opened.model != past.model:
            self.journal.add(ModelChanged(model=opened.model))

    def read(self) -> History:
        """The session as its log tells it."""
        return read_history(self._store.entries())

    def forget(self) -> None:
        """Begin a new conversation: nothing said so far is sent any more."""
        self.journal.rewind(self.journal.root, "a new conversation")
        self.conversation.load(())
        self.memory.load(())

    def rewind(self, to: str, reason: str) -> History:
        """Go on from an earlier entry of the log; returns the session as it is then."""
        self.journal.rewind(to, reason)
        history = self.read()
        self.conversation.load(history.messages)
        self.memory.load(history.pins)
        for message in history.missing:
            self.conversation.append(message)
        return history

    def rename(self, title: str, by: Literal["person", "model"] = "person") -> None:
        """Give the session a title."""
        self.title = as_title(title)
        self.journal.add(Titled(title=self.title, by=by))
