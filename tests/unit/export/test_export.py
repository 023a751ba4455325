"""Sessions as documents: complete, readable, and harmless to open."""

import json
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest

from agent_cli.core.display import (
    DiffBlock,
    TableBlock,
    TerminalBlock,
    TextBlock,
    TodoBlock,
    TodoItem,
)
from agent_cli.core.errors import UserError
from agent_cli.core.events import (
    ApprovalAnswered,
    Event,
    Notice,
    PromptAdded,
    TextDelta,
    ThinkingDelta,
    ToolFinished,
    ToolStarted,
    TurnFinished,
)
from agent_cli.core.log.entries import SessionOpened
from agent_cli.core.log.history import History, PlacedMessage
from agent_cli.core.messages import UserMessage
from agent_cli.core.tool import ToolResult
from agent_cli.export import render_export

EVIL = '<script>alert(1)</script><img src="http://x/t.png" onerror=alert(1)>'
OPENED = SessionOpened(session="abc123", workspace="/w", model="m", mode="default", program="1")
RESULT = ToolResult(
    summary="Changed 1 line",
    display=(
        DiffBlock(path="a.py", diff="@@ -1 +1 @@\n-old\n+new"),
        TerminalBlock(command="ls", output="\x1b[31mred\x1b[0m\x1b]0;title\x07"),
        TextBlock(text="def f(): pass", language="python"),
        TodoBlock(items=(TodoItem(text="do it", status="completed"),)),
        TableBlock(columns=("a", "b"), rows=(("1", "2"),)),
    ),
)


def history(*events: Event, title: str = "A title") -> History:
    return History(
        opened=OPENED,
        title=title,
        model="m",
        updated=datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
        messages=(PlacedMessage("e", UserMessage(content="hello")),),
        events=events,
    )


WHOLE = history(
    PromptAdded(text="hello"),
    ThinkingDelta(text="hm"),
    TextDelta(text="Let me **see**.\n\n```python\nprint('x')\n```"),
    ToolStarted(call_id="c", tool="Edit", title="a.py"),
    ApprovalAnswered(request_id="1", call_id="c", answer="once"),
    ToolFinished(call_id="c", tool="Edit", result=RESULT, seconds=1),
    Notice(text="careful"),
    TurnFinished(turn=1, reason="interrupted"),
)


def test_markdown_tells_everything() -> None:
    text = render_export(WHOLE, "x.md")
    for part in (
        "# A title", "session abc123", "## You\n\nhello", "> hm", "## Agent", "Let me **see**.",
        "**Edit a.py** — Changed 1 line · answered: once", "```diff\n@@ -1 +1 @@\n-old\n+new\n```",
        "$ ls\nred", "[x] do it", "a  b\n1  2", "> careful", "> The turn ended: interrupted.",
    ):  # fmt: skip
        assert part in text
    assert "\x1b" not in text


def test_a_fence_is_longer_than_those_in_the_text() -> None:
    result = ToolResult(display=(TextBlock(text="````\nx\n````"),))
    events = (
        ToolStarted(call_id="c", tool="Read"),
        ToolFinished(call_id="c", tool="Read", result=result, seconds=1),
    )
    assert "`````\n````\nx\n````\n`````" in render_export(history(*events), "x.md")


def test_html_has_colours() -> None:
    text = render_export(WHOLE, "x.HTML")
    assert '<span class="remove">-old</span>' in text
    assert '<span class="add">+new</span>' in text
    assert "<strong>see</strong>" in text
    assert '<span class="k">def</span>' in text
    assert '<span class="nb">print</span>' in text


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


@pytest.mark.parametrize("kind", ["prompt", "reply", "thinking", "call", "title", "link"])
def test_html_loads_nothing_and_runs_nothing(kind: str) -> None:
    result = ToolResult(summary=EVIL, display=(TextBlock(text=EVIL, language=EVIL),))
    events: dict[str, tuple[Event, ...]] = {
        "prompt": (PromptAdded(text=EVIL),),
        "reply": (TextDelta(text=f"{EVIL}\n\n```{EVIL}\n{EVIL}\n```\n\n![x](http://x/t.png)"),),
        "thinking": (ThinkingDelta(text=EVIL),),
        "call": (
            ToolStarted(call_id="c", tool=EVIL, title=EVIL),
            ToolFinished(call_id="c", tool=EVIL, result=result, seconds=1),
        ),
        "title": (),
        "link": (TextDelta(text="[x](javascript:alert(1)) <javascript:alert(1)>"),),
    }
    text = render_export(history(*events[kind], title=EVIL if kind == "title" else ""), "x.html")
    found = _Tags()
    found.feed(text)
    assert not found.tags & {"script", "img", "iframe", "object", "link"}
    assert not {name for name in found.attributes if name.startswith("on") or name == "src"}
    assert 'href="javascript' not in text
    assert "default-src 'none'" in text


def test_json_holds_messages_and_events() -> None:
    data = json.loads(render_export(WHOLE, "x.json"))
    assert data["session"] == "abc123"
    assert data["messages"] == [{"role": "user", "content": "hello", "origin": "person"}]
    assert data["events"][0] == {"type": "prompt_added", "text": "hello"}


def test_other_formats_are_refused() -> None:
    with pytest.raises(UserError, match="docx"):
        render_export(WHOLE, "x.docx")
