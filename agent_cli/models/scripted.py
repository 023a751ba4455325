"""A model that says what a file tells it to: for tests, demonstrations and bug reports.

Use it as `scripted:FILE`. The file holds one JSON object per line, one for each request:

    {"text": "Let me look.", "calls": [{"name": "Read", "arguments": {"file_path": "a.txt"}}]}
    {"thinking": "So that is it.", "text": "It says hello.", "usage": {"input_tokens": 900}}
    {"error": {"kind": "rate_limit", "message": "slow down", "retry_after": 0}}
    {"text": "slowly", "pieces": 6, "delay": 0.1}
    {"hang": true}
"""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from agent_cli.core.errors import ModelError, ModelErrorKind, UserError
from agent_cli.core.messages import AssistantMessage, Thinking, ToolCall
from agent_cli.core.model import (
    Finish,
    ModelEvent,
    ModelRequest,
    Reply,
    TextChunk,
    ThinkingChunk,
    Usage,
)
from agent_cli.lib.language import tr


class ScriptedCall(BaseModel):
    """A call the script makes; `arguments` as a string are sent as they are."""

    model_config = ConfigDict(extra="forbid")

    name: str
    arguments: dict[str, Any] | str = {}
    id: str | None = None


class ScriptedError(BaseModel):
    """A failure the script plays."""

    model_config = ConfigDict(extra="forbid")

    kind: ModelErrorKind
    message: str = "scripted"
    retry_after: float | None = None


class ScriptedStep(BaseModel):
    """What happens on one request."""

    model_config = ConfigDict(extra="forbid")

    text: str = ""
    thinking: str = ""
    calls: list[ScriptedCall] = []
    finish: Finish | None = None
    usage: Usage = Usage()
    error: ScriptedError | None = None
    """After the text, fail like this."""
    pieces: int = 1
    """In how many pieces the text comes."""
    delay: float = 0.0
    """Seconds before each piece."""
    hang: bool = False
    """After the text, say nothing more."""


class ScriptedModel:
    """Plays its steps, one a request; `requests` holds what it was sent."""

    def __init__(
        self, steps: Iterable[ScriptedStep | Mapping[str, Any]], name: str = "scripted"
    ) -> None:
        self.name = name
        self.requests: list[ModelRequest] = []
        self._steps = [
            step if isinstance(step, ScriptedStep) else ScriptedStep.model_validate(step)
            for step in steps
        ]
        self._numbers = itertools.count(1)

    @classmethod
    def from_file(cls, path: Path) -> "ScriptedModel":
        """Read a script."""
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
            steps = [
                ScriptedStep.model_validate(json.loads(line)) for line in lines if line.strip()
            ]
        except OSError as error:
            raise UserError(
                tr("The script {path} cannot be read: {reason}.", path=path, reason=error.strerror)
            ) from error
        except (ValueError, ValidationError) as error:
            raise UserError(
                tr("The script {path} is not valid: {reason}", path=path, reason=error)
            ) from error
        return cls(steps, f"scripted:{path}")

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Play the next step."""
        self.requests.append(request)
        position = len(self.requests) - 1
        over = ScriptedStep(text="(The script is over.)")
        step = self._steps[position] if position < len(self._steps) else over
        if step.thinking:
            yield ThinkingChunk(step.thinking)
        for piece in _pieces(step.text, step.pieces):
            if step.delay:
                await asyncio.sleep(step.delay)
            yield TextChunk(piece)
        if step.hang:
            await asyncio.Event().wait()
        if step.error is not None:
            raise ModelError(
                step.error.message, kind=step.error.kind, retry_after=step.error.retry_after
            )
        yield self._reply(step)

    def _reply(self, step: ScriptedStep) -> Reply:
        calls = tuple(
            ToolCall(
                id=call.id if call.id is not None else f"call-{next(self._numbers)}",
                name=call.name,
                arguments=call.arguments
                if isinstance(call.arguments, str)
                else json.dumps(call.arguments),
            )
            for call in step.calls
        )
        thinking = (Thinking(text=step.thinking),) if step.thinking else ()
        message = AssistantMessage(text=step.text, thinking=thinking, calls=calls, model=self.name)
        return Reply(message, step.finish or (Finish.CALLS if calls else Finish.STOP), step.usage)


def _pieces(text: str, count: int) -> list[str]:
    if not text:
        return []
    size = max(1, -(-len(text) // max(1, count)))
    return [text[start : start + size] for start in range(0, len(text), size)]
