"""A history that every provider takes."""

from hypothesis import given
from hypothesis import strategies as st

from agent_cli.core.message_history import sendable
from agent_cli.core.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolMessage,
    UserMessage,
    close_open_calls,
)
from tests.kit.sessions import assert_valid

IDS = st.sampled_from(["a", "b", "c", "d"])
MESSAGES: st.SearchStrategy[Message] = st.one_of(
    st.just(UserMessage(content="hi")),
    st.builds(
        lambda ids: AssistantMessage(calls=tuple(ToolCall(id=i, name="T") for i in ids)),
        st.lists(IDS, unique=True, max_size=3),
    ),
    st.builds(lambda i: ToolMessage(call_id=i, name="T", content="r"), IDS),
)


def renumbered(messages: list[Message]) -> list[Message]:
    """Ids are made unique when calls arrive: do so here."""
    result: list[Message] = []
    for number, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            calls = tuple(c.model_copy(update={"id": f"{c.id}{number}"}) for c in message.calls)
            message = message.model_copy(update={"calls": calls})
        result.append(message)
    return result


@given(st.lists(MESSAGES, max_size=12))
def test_any_history_is_closed_to_a_valid_one(messages: list[Message]) -> None:
    closed = close_open_calls(renumbered(messages))
    assert_valid(tuple(closed))
    assert close_open_calls(closed) == closed


def test_what_is_valid_is_not_touched() -> None:
    history: list[Message] = [
        UserMessage(content="hi"),
        AssistantMessage(calls=(ToolCall(id="1", name="T"), ToolCall(id="2", name="T"))),
        ToolMessage(call_id="1", name="T", content="one"),
        ToolMessage(call_id="2", name="T", content="two"),
        AssistantMessage(text="done"),
    ]
    assert close_open_calls(history) == history


def test_arguments_that_are_no_object_are_sent_back_as_an_empty_one() -> None:
    for raw in ("{broken", "null", '{"a": "\\ud800"}', "[1]"):
        assert sendable(ToolCall(id="1", name="T", arguments=raw)).arguments == "{}"
    assert sendable(ToolCall(id="1", name="T", arguments='{"a":1,}')).arguments == '{"a": 1}'
