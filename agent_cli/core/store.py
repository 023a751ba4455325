"""What the core wants kept, whoever keeps it."""

from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict

from agent_cli.core.errors import FailureType
from agent_cli.core.messages import Message


class CallRecord(BaseModel):
    """One line of the audit log: who ran what, why it was let through, and how it ended."""

    model_config = ConfigDict(frozen=True)

    session_id: str
    call_id: str
    tool: str
    version: str = ""
    targets: tuple[str, ...] = ()
    decision: Literal["allow", "ask", "deny", "none"] = "none"
    reasons: tuple[str, ...] = ()
    rule: str | None = None
    answer: str | None = None
    """What the person answered, if asked."""
    success: bool = False
    error: FailureType | None = None
    seconds: float = 0.0


class Recorder(Protocol):
    """Keeps the audit log."""

    def record(self, record: CallRecord) -> None:
        """Write one record; may raise OSError."""
        ...


class Store(Protocol):
    """Keeps a session's messages as they happen."""

    def append(self, message: Message) -> None:
        """Keep one message; may raise OSError."""
        ...


class Nowhere:
    """Keeps nothing: for tests, and for a place where nothing can be written."""

    def record(self, record: CallRecord) -> None:
        """Forget the record."""

    def append(self, message: Message) -> None:
        """Forget the message."""
