"""What the core wants kept, whoever keeps it."""

from collections.abc import Sequence
from typing import Literal, Protocol

from pydantic import BaseModel

from agent_cli.core.errors import FailureType
from agent_cli.core.events import Event, TextDelta, ThinkingDelta
from agent_cli.core.log.entries import Entry


class CallRecord(BaseModel, frozen=True):
    """One line of the audit log: who ran what, why it was let through, and how it ended."""

    session_id: str
    call_id: str
    tool: str
    by: Literal["model", "person"] = "model"
    """Who wanted it: the user's own command is not decided about."""
    agent: str = ""
    """The profile of the agent that made it; empty: the session itself did."""
    version: str = ""
    targets: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    """Each simple command, quoted as a shell would read it."""
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    """What spoke against it: dangers, secrets, places outside."""
    mode: str = ""
    decision: Literal["allow", "ask", "deny", "none"] = "none"
    reasons: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    """The stable codes of the reasons."""
    rule: str | None = None
    """The rule that decided, if one did."""
    answer: str | None = None
    """What the user answered, if asked."""
    sandbox: str = ""
    """What its command ran in: "none", "read-only/landlock", "workspace/bwrap"; empty: none ran."""
    sha256: str | None = None
    """Of what was decided on: tool, validated arguments and targets, as canonical JSON."""
    success: bool = False
    error: FailureType | None = None
    exit_code: int | None = None
    seconds: float = 0.0


class Recorder(Protocol):
    """Keeps the audit log."""

    def record(self, record: CallRecord) -> None:
        """Write one record; may raise OSError."""

    def close(self) -> None:
        """Nothing more comes."""


class Observer(Protocol):
    """Is shown everything that happens; neither fails nor takes time."""

    def see(self, event: Event) -> None:
        """Take note of an event."""

    def close(self) -> None:
        """Nothing more comes."""


class RecorderGroup:
    """Several recorders as one."""

    def __init__(self, *recorders: Recorder) -> None:
        self._recorders = recorders

    def record(self, record: CallRecord) -> None:
        """Give the record to each; may raise OSError."""
        for recorder in self._recorders:
            recorder.record(record)

    def close(self) -> None:
        """Close each."""
        for recorder in self._recorders:
            recorder.close()


class Store(Protocol):
    """Keeps a session's entries as they happen."""

    def append(self, entry: Entry) -> None:
        """Keep one entry; may raise OSError, and is then called with the same one again."""

    def stream(self, delta: TextDelta | ThinkingDelta, *, after: str) -> None:
        """Keep a piece of a reply until the whole is an entry; may raise OSError.

        `after` is the entry the reply follows.
        """

    def stream_ended(self) -> None:
        """The pieces are part of an entry now; may raise OSError."""

    def entries(self) -> Sequence[Entry]:
        """Everything that was kept, oldest first; may raise OSError."""

    def sync(self) -> None:
        """Make sure of what was kept; may raise OSError."""

    def close(self) -> None:
        """Nothing more comes."""


class RuleStore(Protocol):
    """Keeps what the user allowed for good in this project."""

    def keep(self, rule: str) -> None:
        """Keep one allow rule; may raise OSError."""


class NullStore:
    """Keeps nothing: for tests, and for a place where nothing can be written."""

    def append(self, entry: Entry) -> None:
        """Forget the entry."""

    def stream(self, delta: TextDelta | ThinkingDelta, *, after: str) -> None:
        """Forget the piece."""

    def stream_ended(self) -> None:
        """There is nothing to remove."""

    def entries(self) -> Sequence[Entry]:
        """Nothing."""
        return ()

    def sync(self) -> None:
        """There is nothing to make sure of."""

    def close(self) -> None:
        """There is nothing to close."""
