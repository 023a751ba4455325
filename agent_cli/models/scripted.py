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

from pydantic import BaseModel, ConfigDict

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


class _Scripted(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ScriptedCall(_Scripted):
    """A call the script makes; `arguments` as a string are sent as they are."""

    name: str
    arguments: dict[str, Any] | str = {}
    id: str | None = None


class ScriptedError(_Scripted):
    """A failure the script plays."""

    kind: ModelErrorKind
    message: str = "scripted"
    retry_after: float | None = None


class ScriptedStep(_Scripted):
    """What happens on one request."""

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
        self._steps = [ScriptedStep.model_validate(step) for step in steps]
        self._numbers = itertools.count(1)

    @classmethod
    def from_file(cls, path: Path) -> "ScriptedModel":
        """Read a script."""
        try:
            lines = filter(str.strip, path.read_text(encoding="utf-8").splitlines())
            steps = [ScriptedStep.model_validate(json.loads(line)) for line in lines]
        except OSError as error:
            why = error.strerror
            said = tr("The script {path} cannot be read: {reason}.", path=path, reason=why)
            raise UserError(said) from error
        except ValueError as error:
            said = tr("The script {path} is not valid: {reason}", path=path, reason=error)
            raise UserError(said) from error
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
            kind, after = step.error.kind, step.error.retry_after
            raise ModelError(step.error.message, kind=kind, retry_after=after)
        yield self._reply(step)

    def _reply(self, step: ScriptedStep) -> Reply:
        calls = tuple(map(self._call, step.calls))
        thinking = (Thinking(text=step.thinking),) if step.thinking else ()
        message = AssistantMessage(text=step.text, thinking=thinking, calls=calls, model=self.name)
        return Reply(message, step.finish or (Finish.CALLS if calls else Finish.STOP), step.usage)

    def _call(self, call: ScriptedCall) -> ToolCall:
        call_id = f"call-{next(self._numbers)}" if call.id is None else call.id
        given = call.arguments
        arguments = given if isinstance(given, str) else json.dumps(given)
        return ToolCall(id=call_id, name=call.name, arguments=arguments)


def _pieces(text: str, count: int) -> list[str]:
    if not text:
        return []
    size = max(1, -(-len(text) // max(1, count)))
    return [text[start : start + size] for start in range(0, len(text), size)]
