"""How a turn ended and what went on in it, in words and as an exit code."""

from agent_cli.core.errors import ExitCode
from agent_cli.core.events import FinishReason, HistoryCompacted, ModelRetrying, TurnFinished

EXIT_CODES: dict[FinishReason, int] = {
    "done": ExitCode.DONE,
    "failed": ExitCode.FAILED,
    "repetition": ExitCode.FAILED,
    "denied": ExitCode.PERMISSION,
    "temporary": ExitCode.TEMPORARY,
    "step_limit": ExitCode.LIMIT,
    "cost_limit": ExitCode.LIMIT,
    "interrupted": ExitCode.INTERRUPTED,
}
_ENDS = {
    "interrupted": "Interrupted.",
    "step_limit": "Stopped.",
    "cost_limit": "Stopped.",
    "repetition": "Stopped.",
    "denied": "Stopped.",
}


def has_failed(event: TurnFinished) -> bool:
    """Whether it may be tried again."""
    return event.reason in ("failed", "temporary")


def stopped(event: TurnFinished) -> str:
    """Why a turn ended before its end; empty if it did not, or if it failed."""
    if event.reason not in _ENDS:
        return ""
    return " ".join(part for part in (_ENDS[event.reason], event.error) if part)


def retrying(event: ModelRetrying) -> str:
    """What is told while a request waits to be made again."""
    return f"{event.reason} Trying again in {event.delay:.0f} s."


def compacted(event: HistoryCompacted) -> str:
    """What is told when the conversation was shortened."""
    return f"Compacted: {event.ledger.heading}. {event.reason}"
