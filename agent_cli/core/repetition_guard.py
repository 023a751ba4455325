"""Notices when a turn goes in circles.

Only the same call with the same result counts: a call that is repeated because its result
changes (a build, a poll) learns something each time.
"""

from typing import Literal

from agent_cli.core.errors import FailureType
from agent_cli.core.messages import ToolCall, text_of
from agent_cli.core.tool import ToolResult
from agent_cli.lib.language import tr

NUDGE_AT = 3
STOP_AT = 5
DENIALS_AT = 5


class RepetitionGuard:
    """Counts, over one turn, calls that bring nothing new and calls that are refused."""

    def __init__(self) -> None:
        self._last: tuple[str, str, str] | None = None
        self._run = 0
        self._denied = 0

    def see(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """Take note of a result; returns it, with a nudge when it is the third of its kind."""
        seen = (call.name, "".join(call.arguments.split()), text_of(result.llm_content))
        self._run = self._run + 1 if seen == self._last else 1
        self._last = seen
        denied = result.error is not None and result.error.type is FailureType.PERMISSION
        self._denied = self._denied + 1 if denied else 0
        if self._run < NUDGE_AT:
            return result
        nudge = (
            f"You have made this very call {self._run} times with this very result. "
            "Repeating it will not help: try something else, or tell the user what is missing."
        )
        return result.model_copy(
            update={"llm_content": f"{text_of(result.llm_content)}\n\n[{nudge}]"}
        )

    @property
    def verdict(self) -> tuple[Literal["repetition", "denied"], str] | None:
        """(finish reason, words) when the turn should stop."""
        if self._run >= STOP_AT:
            name = self._last[0] if self._last else ""
            said = tr(
                "{tool} was called {count} times with the same result.", tool=name, count=self._run
            )
            return "repetition", said
        if self._denied >= DENIALS_AT:
            said = tr("{count} calls in a row were declined or blocked.", count=self._denied)
            return "denied", said
        return None
