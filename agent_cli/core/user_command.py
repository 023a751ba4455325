"""A command the user typed: it runs at once, and the model hears of it in the next turn."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent_cli.core.message_history import Conversation
from agent_cli.core.messages import ToolCall, text_of
from agent_cli.core.pipeline import Pipeline
from agent_cli.core.side_turn import SideTurn
from agent_cli.core.undo.turn_receipt import Receipt

INTERRUPTED = "I interrupted it before it ended."


@dataclass(kw_only=True)
class UserCommand(SideTurn):
    """One command, run without asking."""

    command: str
    tool: str
    """The tool that runs commands; it takes one as `command`."""
    options: Mapping[str, Any]
    conversation: Conversation
    pipeline: Pipeline

    @property
    def prompt(self) -> str:
        """As it was typed."""
        return f"!{self.command}"

    async def work(self) -> None:
        """Run it, and tell the model what it gave."""
        call = ToolCall(
            id=f"own_{uuid.uuid4().hex[:24]}",
            name=self.tool,
            arguments=json.dumps({**self.options, "command": self.command}),
        )
        result = await self.pipeline.execute(call, by_person=True)
        self._share(f"It gave:\n\n{text_of(result.llm_content) or '(no output)'}")

    def on_interrupt(self) -> None:
        """Tell the model that it did not end by itself."""
        self._share(INTERRUPTED)

    def receipt(self) -> Receipt:
        """What it changed."""
        return self.pipeline.keeper.receipt(self.pipeline.state)

    def _share(self, outcome: str) -> None:
        command = self.pipeline.result_filter.redact(self.command)
        said = f"I ran this command myself:\n\n{command}\n\n{outcome}"
        self.conversation.tell_model(said)
