"""Whatever the history, a compacted one is valid and holds all the person said."""

from hypothesis import given
from hypothesis import strategies as st

from agent_cli.core.compaction.shortening import CompactedPast, FileText, compact, divide, thin
from agent_cli.core.context_usage import messages_tokens
from agent_cli.core.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolMessage,
    UserMessage,
    text_of,
)
from tests.kit.sessions import assert_valid

TEXT = st.text(max_size=30) | st.integers(1, 60).map(lambda n: "long text " * n * 10)


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    """What a session can come to: prompts, notes, replies with and without calls, results."""
    messages: list[Message] = [UserMessage(content=draw(TEXT))]
    numbers = iter(range(1_000))
    for _ in range(draw(st.integers(0, 12))):
        kind = draw(st.sampled_from(["person", "program", "summary", "pinned", "reply", "calls"]))
        if kind == "reply":
            messages.append(AssistantMessage(text=draw(TEXT)))
        elif kind == "calls":
            calls = [
                ToolCall(id=f"c{next(numbers)}", name=draw(st.sampled_from(["Read", "Bash"])))
                for _ in range(draw(st.integers(1, 3)))
            ]
            messages.append(AssistantMessage(text=draw(TEXT), calls=tuple(calls)))
            done = draw(st.integers(0, len(calls)))  # interrupted calls have no result yet
            messages += [
                ToolMessage(call_id=call.id, name=call.name, content=draw(TEXT))
                for call in calls[:done]
            ]
        else:
            messages.append(UserMessage.model_validate({"content": draw(TEXT), "origin": kind}))
    return messages


def said(messages: list[Message] | tuple[Message, ...]) -> list[str]:
    return [
        text_of(message.content)
        for message in messages
        if isinstance(message, UserMessage) and message.origin == "person"
    ]


@given(histories(), st.integers(0, 2_000), TEXT, st.lists(TEXT, max_size=3), TEXT)
def test_a_compacted_history_is_valid_and_holds_all_the_person_said(
    messages: list[Message], room: int, summary: str, pins: list[str], file: str
) -> None:
    older, newest = divide(messages, room)
    kept = CompactedPast(summary, "a model", tuple(pins), (FileText("a/b.py", file),))
    shortened = compact(older, newest, kept)
    assert_valid(shortened.messages)
    assert isinstance(shortened.messages[0], UserMessage)
    assert said(shortened.messages) == said(messages)
    whole = "\n".join(text_of(m.content) for m in shortened.messages if isinstance(m, UserMessage))
    assert all(pin in whole for pin in pins)
    assert f"\n{file}\n</file>" in whole


@given(histories(), st.integers(0, 2_000))
def test_dividing_loses_nothing_and_keeps_what_came_last(
    messages: list[Message], room: int
) -> None:
    older, newest = divide(messages, room)
    assert newest
    assert_valid(older)
    assert_valid(newest)
    have = [m for m in (*older, *newest) if m in messages]
    assert have == messages


@given(histories())
def test_a_thinned_history_is_valid_and_shorter(messages: list[Message]) -> None:
    older, newest = divide(messages, 0)
    whole = (*older, *newest)
    shortened = thin(whole)
    assert_valid(shortened.messages)
    assert said(shortened.messages) == said(messages)
    assert messages_tokens(shortened.messages) <= messages_tokens(whole)
