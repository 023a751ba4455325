"""What a session knows of hooks, whatever these are.

A hook can make a call stricter: refuse it, have it asked about, or change its arguments before it
is decided about. There is no way to say that a call is allowed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from agent_cli.core.events import Event
from agent_cli.core.tool import ToolResult
from agent_cli.safety.reasons import Reason


@dataclass(frozen=True, kw_only=True)
class HookVerdict:
    """What the hooks say about a call, all together."""

    deny: Reason | None = None
    """Why it must not run."""
    ask: Reason | None = None
    """Why the user has to be asked, even where the rules would not."""
    arguments: Mapping[str, Any] | None = None
    """What it is to be called with instead."""


class Hooks(Protocol):
    """The hooks of one session."""

    async def before_call(self, tool: str, arguments: Mapping[str, Any]) -> HookVerdict:
        """What they say about a call; it comes before the decision."""

    def after_call(self, tool: str, arguments: Mapping[str, Any], result: ToolResult) -> None:
        """Take note of what came of a call; it neither fails nor takes time."""

    def see(self, event: Event) -> None:
        """Take note of an event; it neither fails nor takes time."""

    async def close(self) -> None:
        """The session ends."""
