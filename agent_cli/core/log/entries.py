"""The entries a session is kept in: a tree that only ever grows.

Each entry names the one it follows. The head is the last entry; the way from it back to the
beginning is the session as it stands. Going back is one more entry, `Rewound`, that follows an
earlier one: what was said in between stays in the log and can be returned to.
"""

import uuid
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from agent_cli.core import events as ev
from agent_cli.core.compaction.compaction_report import CompactionLine
from agent_cli.core.messages import Message

VERSION = 1
"""Of the format. A reader passes over kinds it does not know, whatever their version."""

PASSING = (
    ev.TextDelta,
    ev.ThinkingDelta,
    ev.PromptAdded,
    ev.ToolProgress,
    ev.ApprovalAsked,
    ev.QuestionAsked,
    ev.PlanAsked,
    ev.RequestWithdrawn,
)
"""Events that are not kept: a message, a result or an answer says the same later on."""


class BaseBody(BaseModel, frozen=True):
    """The base of what an entry can say."""


class SessionOpened(BaseBody):
    """The first entry."""

    kind: Literal["opened"] = "opened"
    session: str
    workspace: str
    model: str
    mode: str
    program: str
    """The version of the program that opened it."""
    forked_from: str = ""
    """The session whose entries follow, copied."""


class MessageAdded(BaseBody):
    """A message, from now on part of the conversation."""

    kind: Literal["message"] = "message"
    message: Message


class EventAdded(BaseBody):
    """Something that was shown and will be shown again when the session is resumed."""

    kind: Literal["event"] = "event"
    event: ev.Event


class ReplyAbandoned(BaseBody):
    """What was shown of a reply and never became part of the conversation."""

    kind: Literal["shown"] = "shown"
    thinking: str = ""
    text: str = ""


class ModeChanged(BaseBody):
    """The permission mode from now on."""

    kind: Literal["mode"] = "mode"
    mode: str


class ModelChanged(BaseBody):
    """The model from now on."""

    kind: Literal["model"] = "model"
    model: str


class KeptMessage(BaseBody):
    """A message of the new history that stands elsewhere in the log."""

    type: Literal["kept"] = "kept"
    at: str
    """Its address: see `Placed` in core/log/history.py."""


class AddedMessage(BaseBody):
    """A message of the new history that was said nowhere before: a summary, a note."""

    type: Literal["written"] = "written"
    message: Message


HistoryItem = Annotated[KeptMessage | AddedMessage, Field(discriminator="type")]


class Compacted(BaseBody):
    """How the conversation reads from here on. Following an earlier entry again undoes it."""

    kind: Literal["compacted"] = "compacted"
    reason: str = ""
    history: tuple[HistoryItem, ...]
    ledger: tuple[CompactionLine, ...] = ()


class Pinned(BaseBody):
    """Something that is sent word for word ever after; the entry's id is the pin's."""

    kind: Literal["pinned"] = "pinned"
    text: str = ""
    at: str = ""
    """The address of the pinned message; empty: the text itself is pinned."""


class Unpinned(BaseBody):
    """A pin is taken away."""

    kind: Literal["unpinned"] = "unpinned"
    pin: str
    """The id of the Pinned entry."""


class Titled(BaseBody):
    """The session's title from now on."""

    kind: Literal["titled"] = "titled"
    title: str
    by: Literal["person", "model"] = "person"


class Rewound(BaseBody):
    """The conversation went back to the entry this one follows."""

    kind: Literal["rewound"] = "rewound"
    reason: str = ""


class Unknown(BaseModel, frozen=True, extra="allow"):
    """Something a newer version of the program wrote: kept as it is, and passed over."""

    kind: str = ""


KnownBody = (
    SessionOpened
    | MessageAdded
    | EventAdded
    | ReplyAbandoned
    | ModeChanged
    | ModelChanged
    | Compacted
    | Pinned
    | Unpinned
    | Titled
    | Rewound
)


# Tried in this order: what none of the known kinds fits, by its name or its fields, is unknown.
Body = Annotated[
    Annotated[KnownBody, Field(discriminator="kind")] | Unknown, Field(union_mode="left_to_right")
]


class Entry(BaseModel, frozen=True):
    """One line of a session's log."""

    version: int = VERSION
    id: str = Field(min_length=1)
    parent: str | None
    """The entry this one follows; None: it follows nothing."""
    time: datetime
    body: Body


ENTRY: TypeAdapter[Entry] = TypeAdapter(Entry)


def new_entry(body: KnownBody, parent: str | None) -> Entry:
    """An entry that is made now."""
    return Entry(id=uuid.uuid4().hex[:12], parent=parent, time=datetime.now(UTC), body=body)


def read_entry(line: bytes | str) -> Entry | None:
    """The entry a line holds; None for half a line and for what is none of ours."""
    try:
        return ENTRY.validate_json(line)
    except ValidationError:
        return None
