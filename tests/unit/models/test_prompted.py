"""Tool calls in the text of models that have no others."""

import json
from typing import Any

from agent_cli.core.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage
from agent_cli.core.model import Finish, ModelRequest, Reply
from agent_cli.models.prompted import PromptedTools, calls_in, lone_call
from agent_cli.models.scripted import ScriptedModel

NAMES = {"Read", "Bash"}
TOOLS: tuple[dict[str, Any], ...] = ({"type": "function", "function": {"name": "Read"}},)


async def reply_of(model: PromptedTools, request: ModelRequest) -> Reply:
    (reply,) = [event async for event in model.stream(request) if isinstance(event, Reply)]
    return reply


def request(*messages: Any) -> ModelRequest:
    return ModelRequest("system", messages or (UserMessage(content="hi"),), TOOLS)


def test_calls_are_read_from_fences_and_tags() -> None:
    text = (
        'First.\n```tool_call\n{"name": "Read", "arguments": {"path": "a"}}\n```\n'
        '<tool_call>{"name": "Bash", "arguments": {"command": "ls"}}</tool_call>'
    )
    assert [call.name for call in calls_in(text, NAMES)] == ["Read", "Bash"]


def test_other_blocks_are_text() -> None:
    for body in ('{"name": "Nope", "arguments": {}}', '{"name": "Read"}', "[1]", "not json",
                 '{"name": "Read", "arguments": "x"}', '{"tool": "Read", "path": "a"}'):  # fmt: skip
        assert calls_in(f"```json\n{body}\n```", NAMES) == []


def test_a_lone_call_is_the_whole_text() -> None:
    block = '```json\n{"name": "Read", "arguments": {}}\n```'
    assert lone_call(block, NAMES) is not None
    assert lone_call(f"For example:\n{block}", NAMES) is None
    assert lone_call('<tool_call>{"name": "Read", "arguments": {}}</tool_call>', NAMES) is None


async def test_in_prompted_mode_tools_and_history_are_text() -> None:
    script = ScriptedModel([{"text": 'Ok.\n```tool_call\n{"name": "Read", "arguments": {}}\n```'}])
    model = PromptedTools(script, prompted=True)
    reply = await reply_of(
        model,
        request(
            UserMessage(content="hi"),
            AssistantMessage(text="I look.", calls=(ToolCall(id="1", name="Read"),)),
            ToolMessage(call_id="1", name="Read", content="found"),
        ),
    )
    assert reply.finish is Finish.CALLS
    assert reply.message.text == "Ok."
    assert reply.message.calls[0].name == "Read"
    sent = script.requests[0]
    assert not sent.tools
    assert json.dumps("Read") in sent.system
    assert [message.role for message in sent.messages] == ["user", "assistant", "user"]
    assert "found" in str(sent.messages[-1])
    assert "tool_call" in str(sent.messages[1])


async def test_a_model_that_makes_native_calls_is_never_read_as_text() -> None:
    lone = {"text": '```json\n{"name": "Read", "arguments": {}}\n```'}
    script = ScriptedModel([{"calls": [{"name": "Read"}]}, lone, lone])
    model = PromptedTools(script)
    assert (await reply_of(model, request())).message.calls
    assert not (await reply_of(model, request())).message.calls
    assert script.requests[1].tools
