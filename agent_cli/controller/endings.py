"""How a turn ended and what went on in it, in words and as an exit code."""

from agent_cli.controller.wording import sentences
from agent_cli.core.errors import ExitCode
from agent_cli.core.events import FinishReason, HistoryCompacted, ModelRetrying, TurnFinished
from agent_cli.core.tool import ToolError
from agent_cli.lib.language import mark, tr
from agent_cli.safety.reasons import in_words

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
    "interrupted": mark("Interrupted."),
    "step_limit": mark("Stopped."),
    "cost_limit": mark("Stopped."),
    "repetition": mark("Stopped."),
    "denied": mark("Stopped."),
}
_REASONS: dict[FinishReason, str] = {
    "done": mark("done"),
    "failed": mark("failed"),
    "repetition": mark("repetition"),
    "denied": mark("denied"),
    "temporary": mark("temporary"),
    "step_limit": mark("step_limit"),
    "cost_limit": mark("cost_limit"),
    "interrupted": mark("interrupted"),
}


def exit_code(finished: TurnFinished) -> int:
    """What the process tells the shell about its last turn."""
    if finished.reason == "done" and finished.denials:
        return ExitCode.PERMISSION
    return EXIT_CODES[finished.reason]


def has_failed(event: TurnFinished) -> bool:
    """Whether it may be tried again."""
    return event.reason in ("failed", "temporary")


def stop_reason(event: TurnFinished) -> str:
    """Why a turn stopped early; empty if it did not, or if it failed."""
    if event.reason not in _ENDS:
        return ""
    return sentences(tr(_ENDS[event.reason]), event.error)


def ending_text(event: TurnFinished) -> str:
    """That a turn is over, for somebody who looks elsewhere."""
    reason = tr(_REASONS[event.reason])
    return f"{reason}: {event.text[:80]}"


def retrying(event: ModelRetrying) -> str:
    """What is told while a request waits to be made again."""
    return tr("{reason} Retrying in {delay:.0f} s.", reason=event.reason, delay=event.delay)


def compaction_text(event: HistoryCompacted) -> str:
    """What is told when the conversation was shortened."""
    return tr("Compacted: {heading}. {reason}", heading=event.ledger.heading, reason=event.reason)


def failure(error: ToolError) -> str:
    """Why a call failed: a refusal in the language of the interface, else the tool's own words."""
    if error.declined:
        return tr("You said no: {words}", words=error.words) if error.words else tr("You said no.")
    if error.reasons:
        return tr("Blocked: {why}", why="; ".join(map(in_words, error.reasons)))
    return error.message
