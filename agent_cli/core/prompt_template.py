"""A prompt that a file has written: text, and commands whose output is to stand in it."""

import json
import uuid
from dataclasses import dataclass

from agent_cli.core.messages import ToolCall, text_of
from agent_cli.core.pipeline import Pipeline
from agent_cli.lib.language import tr


@dataclass(frozen=True)
class CommandSlot:
    """A place for what a command gives."""

    command: str


@dataclass(frozen=True, kw_only=True)
class PromptTemplate:
    """A prompt before its commands have run."""

    said: str
    """What the user typed for it: "/review main"."""
    pieces: tuple[str | CommandSlot, ...]
    tool: str
    """The tool that runs commands; it takes one as `command`."""


async def render_template(written: PromptTemplate, pipeline: Pipeline) -> str:
    """The whole prompt. Each command is decided about like a call of the model's: a file that
    names one is no permission. What was refused or failed says so in its place."""
    texts = []
    for piece in written.pieces:
        if isinstance(piece, str):
            texts.append(piece)
            continue
        given = {
            "command": piece.command,
            "description": tr("asked for by {command}", command=written.said[:80]),
        }
        call = ToolCall(
            id=f"prompt_{uuid.uuid4().hex[:24]}", name=written.tool, arguments=json.dumps(given)
        )
        result = await pipeline.execute(call)
        texts.append(text_of(result.llm_content) or "(no output)")
    return "".join(texts)
