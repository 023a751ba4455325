"""A command of the person's own: it runs at once, and the model hears of it in the next turn."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent_cli.core.conversation import Conversation
from agent_cli.core.events import Event, FinishReason, TurnFinished, TurnStarted
from agent_cli.core.messages import ToolCall, UserMessage, text_of
from agent_cli.core.pipeline import Pipeline

INTERRUPTED = "I interrupted it before it ended."


@dataclass
class OwnCommand:
    """Reads like a turn to whoever follows its events, but no model takes part in it."""

    command: str
    tool: str
    """The tool that runs commands; it takes one as `command`."""
    options: Mapping[str, Any]
    number: int
    session_id: str
    model: str
    conversation: Conversation
    pipeline: Pipeline
    emit: Callable[[Event], None]
    _started: float = field(default_factory=time.monotonic)

    async def run(self) -> None:
        """Run it; the last event is TurnFinished, whatever happens."""
        self.emit(
            TurnStarted(
                session_id=self.session_id,
                turn=self.number,
                prompt=f"!{self.command}",
                model=self.model,
            )
        )
        call = ToolCall(
            id=f"own_{uuid.uuid4().hex[:24]}",
            name=self.tool,
            arguments=json.dumps({**self.options, "command": self.command}),
        )
        try:
            result = await self.pipeline.execute(call, by_person=True)
        except asyncio.CancelledError:
            self._share(INTERRUPTED)
            self._finish("interrupted")
            raise
        self._share(f"It gave:\n\n{text_of(result.llm_content) or '(no output)'}")
        self._finish("done")

    def _share(self, outcome: str) -> None:
        command = self.pipeline.outgoing.redact(self.command)
        said = f"I ran this command myself:\n\n{command}\n\n{outcome}"
        self.conversation.append(UserMessage(content=said, origin="program"))

    def _finish(self, reason: FinishReason) -> None:
        seconds = time.monotonic() - self._started
        receipt = self.pipeline.keeper.receipt(self.pipeline.state)
        self.emit(TurnFinished(turn=self.number, reason=reason, seconds=seconds, receipt=receipt))
