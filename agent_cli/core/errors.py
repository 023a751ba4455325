"""Every error this program raises on purpose.

    AgentError
    ├── ToolFailure    a call went wrong; becomes a result the model reads
    ├── ModelError     a model request went wrong; `kind` says what to do about it
    └── UserError      the user can fix it: message, hint and exit code

Anything else that is raised is a bug: it is logged with its traceback and shown as one line.
`asyncio.CancelledError` is never swallowed.
"""

from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from agent_cli.safety.reasons import Reason

from agent_cli.lib.language import tr


class AgentError(Exception):
    """The base of all errors raised on purpose: what happened, and what to do about it."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class FailureType(StrEnum):
    """Why a tool call failed."""

    VALIDATION = "validation"
    EXECUTION = "execution"
    PERMISSION = "permission"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


class ToolFailure(AgentError):
    """A call that failed; its text tells the model what to do next."""

    def __init__(
        self,
        message: str,
        *,
        type: FailureType = FailureType.EXECUTION,
        details: str = "",
        reasons: "tuple[Reason, ...]" = (),
        declined: bool = False,
        words: str = "",
    ) -> None:
        super().__init__(message)
        self.type = type
        self.details = details
        self.reasons = reasons
        """Why it was not permitted, for a view to put into words."""
        self.declined = declined
        """The user said no, with these words or none."""
        self.words = words


def refuse(message: str, details: str = "") -> ToolFailure:
    """A failure for arguments that are well-formed but make no sense."""
    return ToolFailure(message, type=FailureType.VALIDATION, details=details)


class ModelErrorKind(StrEnum):
    """What went wrong between us and the model."""

    AUTHENTICATION = "authentication"
    PERMISSION = "permission"
    QUOTA = "quota"
    NOT_FOUND = "not_found"
    RATE_LIMIT = "rate_limit"
    OVERFLOW = "overflow"
    BAD_HISTORY = "bad_history"
    BAD_REQUEST = "bad_request"
    CONNECTION = "connection"
    TIMEOUT = "timeout"
    SERVER = "server"
    BAD_REPLY = "bad_reply"
    WORKER = "worker"


RETRYABLE: Final = frozenset(
    {
        ModelErrorKind.RATE_LIMIT,
        ModelErrorKind.CONNECTION,
        ModelErrorKind.TIMEOUT,
        ModelErrorKind.SERVER,
        ModelErrorKind.WORKER,
    }
)


class ModelError(AgentError):
    """A failed model request, already translated from the vendor's words."""

    def __init__(
        self,
        message: str,
        *,
        kind: ModelErrorKind,
        hint: str = "",
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.kind = kind
        self.status = status
        self.retry_after = retry_after

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed later."""
        return self.kind in RETRYABLE


class ExitCode:
    """What the process tells the shell; documented in docs/headless.md."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    LIMIT = 3
    PERMISSION = 4
    TEMPORARY = 75
    INTERRUPTED = 130


class UserError(AgentError):
    """Something the user can fix: what happened, then what to do."""

    def __init__(self, message: str, *, hint: str = "", exit_code: int = ExitCode.USAGE) -> None:
        super().__init__(message, hint=hint)
        self.exit_code = exit_code


def internal_error(error: BaseException) -> str:
    """What a user is told of an error that nobody raised on purpose."""
    what = f"{type(error).__name__}: {error}"
    return tr("Internal error: {what}", what=what)
