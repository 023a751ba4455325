"""Tool calls for models without native ones: schemas go into the prompt, calls come in the text.

A model that was sent tools and yet writes a call as text (small local ones do: a lone JSON block
with a name and arguments) is asked this way from then on. Text of a model that makes native calls
is never read as a call: it may quote a file.
"""

import json
import re
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from agent_cli.core.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolMessage,
    UserMessage,
    text_of,
)
from agent_cli.core.model import Finish, Model, ModelEvent, ModelRequest, Reply
from agent_cli.lib.language import tr

_FENCED = re.compile(r"```(?:json|tool_call|tool)?[ \t]*\n(.*?)\n?```", re.DOTALL)
_XML = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)

INSTRUCTIONS = """

# Calling tools

You can call the tools below. To call one, end your reply with a block like this:

```tool_call
{"name": "ToolName", "arguments": {"parameter": "value"}}
```

Use one block per call. The results come in the next message. When you need no tool, just answer.

Tools:
"""


class PromptedTools:
    """Wraps a model: native calls while it makes them, prompted ones from when it does not."""

    def __init__(self, model: Model, *, prompted: bool = False) -> None:
        self.name = model.name
        self._model = model
        self._prompted = prompted
        self._may_switch = not prompted
        self._boundary = secrets.token_hex(4)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Ask the model in the way that suits it."""
        sent = self._in_text(request) if self._prompted else request
        async for event in self._model.stream(sent):
            yield self._read(event, request) if isinstance(event, Reply) else event

    def _read(self, reply: Reply, request: ModelRequest) -> Reply:
        names = {tool["function"]["name"] for tool in request.tools}
        if reply.message.calls:
            self._may_switch = False
            return reply
        if self._prompted:
            return _with_calls(reply, calls_in(reply.message.text, names))
        if self._may_switch and (call := lone_call(reply.message.text, names)):
            self._prompted = True
            notice = tr(
                "{model} writes tool calls as text; from now on it is prompted that way.",
                model=self.name,
            )
            return _with_calls(reply, [call], notice)
        return reply

    def _in_text(self, request: ModelRequest) -> ModelRequest:
        if not request.tools:
            return request
        schemas = "\n".join(_one_line(tool["function"]) for tool in request.tools)
        system = request.system + INSTRUCTIONS + schemas
        return replace(request, system=system, messages=self._as_text(request.messages), tools=())

    def _as_text(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Calls and results as text; results of one reply stand together in one message."""
        told: list[Message] = []
        for are_results, group in groupby(messages, lambda each: isinstance(each, ToolMessage)):
            if are_results:
                results = "\n".join(map(self._result_as_text, group))
                told.append(UserMessage(content=results, origin="program"))
            else:
                told.extend(map(_without_native_calls, group))
        return tuple(told)

    def _result_as_text(self, message: Message) -> str:
        assert isinstance(message, ToolMessage)
        tag = f"tool_{'error' if message.is_error else 'result'}_{self._boundary}"
        return f'<{tag} of="{message.name}">\n{text_of(message.content)}\n</{tag}>'


def calls_in(text: str, names: set[str]) -> list[ToolCall]:
    """The calls written in a text, in their order."""
    found = sorted(
        (match.start(), match[1]) for form in (_FENCED, _XML) for match in form.finditer(text)
    )
    calls = [_call(body, names) for _, body in found]
    return [call for call in calls if call is not None]


def lone_call(text: str, names: set[str]) -> ToolCall | None:
    """The call, if the whole text is one JSON block with the name of a tool and its arguments."""
    whole = _FENCED.fullmatch(text.strip())
    return _call(whole[1], names) if whole else None


def _call(body: str, names: set[str]) -> ToolCall | None:
    try:
        value = json.loads(body, strict=False)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or set(value) != {"name", "arguments"}:
        return None
    if value["name"] not in names or not isinstance(value["arguments"], dict):
        return None
    arguments = json.dumps(value["arguments"], ensure_ascii=False)
    return ToolCall(id=f"text_{secrets.token_hex(8)}", name=value["name"], arguments=arguments)


def _with_calls(reply: Reply, calls: Sequence[ToolCall], *notices: str) -> Reply:
    if not calls and not notices:
        return reply
    text = _XML.sub("", _FENCED.sub(_without_call, reply.message.text)).rstrip()
    message = reply.message.model_copy(update={"calls": tuple(calls), "text": text})
    finish = Finish.CALLS if calls and reply.finish is Finish.STOP else reply.finish
    return Reply(message, finish, reply.usage, (*reply.notices, *notices))


def _without_call(block: re.Match[str]) -> str:
    return "" if '"name"' in block[1] and '"arguments"' in block[1] else block[0]


def _without_native_calls(message: Message) -> Message:
    if not isinstance(message, AssistantMessage) or not message.calls:
        return message
    blocks = [
        f'```tool_call\n{{"name": {json.dumps(call.name)}, "arguments": {call.arguments}}}\n```'
        for call in message.calls
    ]
    text = "\n".join(filter(None, (message.text, *blocks)))
    return AssistantMessage(text=text, model=message.model)


def _one_line(function: Mapping[str, Any]) -> str:
    return json.dumps(function, ensure_ascii=False, separators=(",", ":"))
