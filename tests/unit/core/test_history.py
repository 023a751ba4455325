"""The tree of entries: what it comes to, and what happens when parts of it are gone."""

import json
from collections.abc import Sequence

from agent_cli.core.events import (
    Event,
    PromptAdded,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    UsageChanged,
)
from agent_cli.core.log.entries import (
    AddedMessage,
    Compacted,
    Entry,
    EventAdded,
    KeptMessage,
    KnownBody,
    MessageAdded,
    ModeChanged,
    ModelChanged,
    Pinned,
    ReplyAbandoned,
    Rewound,
    SessionOpened,
    Titled,
    Unknown,
    Unpinned,
    new_entry,
    read_entry,
)
from agent_cli.core.log.history import path, read_history
from agent_cli.core.messages import (
    AssistantMessage,
    Thinking,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from agent_cli.core.model import Usage
from agent_cli.core.tool import ToolResult

OPENED = SessionOpened(session="s", workspace="/w", model="m", mode="default", program="1")


class Log:
    """Entries as a session writes them."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.add(OPENED)

    def add(self, body: KnownBody, after: str | None = None) -> str:
        parent = after or (self.entries[-1].id if self.entries else None)
        self.entries.append(new_entry(body, parent))
        return self.entries[-1].id

    def ask(self, text: str) -> str:
        return self.add(MessageAdded(message=UserMessage(content=text)))

    def answer(self, text: str, *calls: ToolCall) -> str:
        return self.add(MessageAdded(message=AssistantMessage(text=text, calls=calls)))

    def event(self, event: Event) -> str:
        return self.add(EventAdded(event=event))


def texts(entries: Sequence[Entry]) -> list[str]:
    return [
        message.text if isinstance(message, AssistantMessage) else str(message.content)
        for message in (placed.message for placed in read_history(entries).messages)
    ]


def test_entries_survive_json() -> None:
    log = Log()
    log.ask("hi")
    log.event(UsageChanged(model="m", step=Usage(input_tokens=1), total=Usage(input_tokens=1)))
    log.add(
        Compacted(
            history=(
                KeptMessage(at=log.entries[1].id),
                AddedMessage(message=UserMessage(content="x")),
            )
        )
    )
    assert [read_entry(entry.model_dump_json()) for entry in log.entries] == log.entries


def test_the_conversation_is_the_way_to_the_head() -> None:
    log = Log()
    log.ask("one")
    first = log.answer("1")
    log.ask("two")
    log.answer("2")
    log.add(Rewound(), after=first)
    log.ask("three")
    assert texts(log.entries) == ["one", "1", "three"]


def test_what_was_left_can_be_returned_to() -> None:
    log = Log()
    log.ask("one")
    left = log.answer("1")
    log.add(Rewound(), after=log.entries[0].id)
    assert texts(log.entries) == []
    log.add(Rewound(), after=left)
    assert texts(log.entries) == ["one", "1"]


def test_a_compaction_keeps_by_address_and_can_be_undone() -> None:
    log = Log()
    one = log.ask("one")
    before = log.answer("a long answer")
    summary = UserMessage(content="summary", origin="program")
    shorter = log.add(Compacted(history=(AddedMessage(message=summary), KeptMessage(at=one))))
    log.ask("two")
    assert texts(log.entries) == ["summary", "one", "two"]
    log.add(Compacted(history=(KeptMessage(at=f"{shorter}.0"),)))
    assert texts(log.entries) == ["summary"]
    log.add(Rewound(), after=before)
    assert texts(log.entries) == ["one", "a long answer"]


def test_going_back_neither_renames_nor_gives_tokens_back() -> None:
    log = Log()
    start = log.ask("one")
    log.event(UsageChanged(model="m", step=Usage(input_tokens=5, cost=0.5), total=Usage()))
    log.add(Titled(title="A title"))
    log.add(ModeChanged(mode="plan"))
    log.add(ModelChanged(model="other"))
    log.add(Rewound(), after=start)
    history = read_history(log.entries)
    assert (history.title, history.mode, history.model) == ("A title", "plan", "other")
    assert history.usage == Usage(input_tokens=5, cost=0.5)
    assert history.last == Usage()


def test_pins_are_those_on_the_way() -> None:
    log = Log()
    said = log.ask("never touch main.py")
    pin = log.add(Pinned(at=said))
    log.add(Pinned(text="be brief"))
    assert [each.text for each in read_history(log.entries).pins] == [
        "never touch main.py",
        "be brief",
    ]
    log.add(Unpinned(pin=pin))
    assert [each.text for each in read_history(log.entries).pins] == ["be brief"]
    log.add(Rewound(), after=said)
    assert read_history(log.entries).pins == ()


def test_a_damaged_line_takes_nothing_else_with_it() -> None:
    log = Log()
    log.ask("one")
    log.answer("1")
    log.ask("two")
    log.answer("2")
    del log.entries[2]
    assert texts(log.entries) == ["one", "two", "2"]


def test_parents_that_come_later_or_go_round_end_the_search() -> None:
    log = Log()
    log.ask("one")
    log.ask("two")
    first, second, third = log.entries
    twisted = [first, second.model_copy(update={"parent": third.id}), third]
    assert path(twisted) == twisted
    selfish = [first, second.model_copy(update={"parent": second.id})]
    assert path(selfish) == selfish


def test_what_a_newer_version_wrote_is_kept_and_passed_over() -> None:
    log = Log()
    log.ask("one")
    new = new_entry(OPENED, log.entries[-1].id).model_dump(mode="json")
    new |= {"version": 9, "body": {"kind": "dreamt", "of": ["sheep"]}}
    changed = new | {"id": "changed", "parent": new["id"], "body": {"kind": "titled", "name": "x"}}
    for raw in (new, changed):
        entry = read_entry(json.dumps(raw))
        assert entry is not None
        assert isinstance(entry.body, Unknown)
        assert json.loads(entry.model_dump_json())["body"] == raw["body"]
        log.entries.append(entry)
    log.answer("1")
    history = read_history(log.entries)
    assert history.unknown == 2
    assert texts(log.entries) == ["one", "1"]


def test_what_is_no_entry_is_none() -> None:
    assert read_entry('{"version":1,"id":"a","par') is None
    assert read_entry("[]") is None
    assert read_entry('{"hello": 1}') is None


def test_the_transcript_is_shown_again_as_it_was() -> None:
    log = Log()
    log.event(TurnStarted(session_id="s", turn=3, prompt="go", model="m"))
    log.ask("go")
    call = ToolCall(id="c", name="Read")
    said = AssistantMessage(text="Look.", thinking=(Thinking(text="hm"),), calls=(call,))
    log.add(MessageAdded(message=said))
    log.event(ToolStarted(call_id="c", tool="Read"))
    finished = ToolFinished(call_id="c", tool="Read", result=ToolResult(), seconds=1)
    log.event(finished)
    log.add(MessageAdded(message=ToolMessage(call_id="c", name="Read", content="x")))
    log.add(MessageAdded(message=UserMessage(content="Your reply was empty.", origin="program")))
    log.add(ReplyAbandoned(thinking="and", text="lost"))
    log.event(TurnFinished(turn=3, reason="interrupted"))
    history = read_history(log.entries)
    assert list(history.events) == [
        TurnStarted(session_id="s", turn=3, prompt="go", model="m"),
        PromptAdded(text="go"),
        ThinkingDelta(text="hm"),
        TextDelta(text="Look."),
        ToolStarted(call_id="c", tool="Read"),
        finished,
        ThinkingDelta(text="and"),
        TextDelta(text="lost"),
        TurnFinished(turn=3, reason="interrupted"),
    ]
    assert history.turns == 3
    assert history.missing == ()


def test_results_that_were_not_written_any_more_are_found_again() -> None:
    log = Log()
    log.ask("go")
    log.answer("", ToolCall(id="a", name="Read"), ToolCall(id="b", name="Bash"))
    log.event(ToolStarted(call_id="a", tool="Read"))
    log.event(ToolStarted(call_id="b", tool="Bash"))
    result = ToolResult(llm_content="found")
    log.event(ToolFinished(call_id="a", tool="Read", result=result, seconds=1))
    history = read_history(log.entries)
    found, interrupted = history.missing
    assert isinstance(found, ToolMessage)
    assert (found.call_id, found.content) == ("a", "found")
    assert isinstance(interrupted, ToolMessage)
    assert (interrupted.call_id, interrupted.is_error) == ("b", True)
    ended = history.events[-1]
    assert isinstance(ended, ToolFinished)
    assert (ended.call_id, ended.result.success) == ("b", False)
