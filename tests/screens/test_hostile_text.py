"""Foreign text in every place of every block: only text and colours reach the screen."""

import base64
import json
import re
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from textual.strip import Strip

from agent_cli.core.display import (
    DiffBlock,
    ImageBlock,
    TableBlock,
    TerminalBlock,
    TextBlock,
    TodoBlock,
    TodoItem,
)
from agent_cli.core.events import ToolFinished, ToolProgress, ToolStarted
from agent_cli.core.tool import ToolError, ToolResult
from agent_cli.frontends.shared.signs import ASCII
from agent_cli.frontends.tui.appearance import Appearance
from agent_cli.frontends.tui.blocks.banner_block import BannerBlock
from agent_cli.frontends.tui.blocks.base_block import Block
from agent_cli.frontends.tui.blocks.notice_block import ErrorBlock, NoticeBlock
from agent_cli.frontends.tui.blocks.prompt_block import PromptBlock
from agent_cli.frontends.tui.blocks.reply_block import ReplyBlock
from agent_cli.frontends.tui.blocks.thinking_block import ThinkingBlock
from agent_cli.frontends.tui.blocks.tool_block import ToolBlock
from tests.kit.chat import ChatApp, call

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "terminal_cases.jsonl").open()
]
FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
MARKUP = [
    "[/]",
    "[@click=app.quit]x[/]",
    "[b",
    "[/nothing]",
    "\\[",
    "[link=file:///etc]y[/link]",
    "[red]z",
]


def hostile(case: dict[str, Any]) -> str:
    if "raw_b64" in case:
        return base64.b64decode(case["raw_b64"]).decode("utf-8", "surrogateescape")
    if "repeat" in case:
        piece, times = case["repeat"]
        return str(piece) * int(times)
    return str(case.get("output") or "".join(case.get("chunks", ())))


def tool_blocks(text: str) -> Iterable[ToolBlock]:
    displays = [
        TextBlock(text=text, language="python", first_line=1),
        TextBlock(text=text),
        DiffBlock(path=text[:200], diff=f"@@ -1 +1 @@\n-{text}\n+{text}\n {text}"),
        TerminalBlock(command=text, output=text, exit_code=1),
        TableBlock(columns=(text, "b"), rows=((text, "1"),)),
        TodoBlock(
            items=tuple(
                TodoItem(text=text, status=s) for s in ("pending", "in_progress", "completed")
            )
        ),
        ImageBlock(path=text, media_type=text),
    ]
    started = ToolStarted(
        call_id="1", tool=text[:80], title=text, status=text, arguments={text[:50] or "a": text}
    )
    live = ToolBlock(started)
    live.progress(ToolProgress(call_id="1", text=text))
    yield live
    untitled = ToolBlock(ToolStarted(call_id="1", tool="X", arguments={"a": text}))
    untitled.progress(ToolProgress(call_id="1", block=displays[0]))
    yield untitled
    for error in (None, ToolError(type="execution", message=text, details=text)):
        block = ToolBlock(started)
        result = ToolResult(
            success=error is None,
            summary=text,
            display=tuple(displays),
            llm_content=text,
            error=error,
        )
        block.finish(ToolFinished(call_id="1", tool="X", result=result, seconds=1.0))
        yield block
    yield call("X", text, told=text, summary=text)


def blocks(text: str) -> Iterable[Block]:
    yield PromptBlock(text)
    yield ReplyBlock(text)
    yield ReplyBlock(f"```{text}\n{text}\n```\n- {text}\n\n[{text}]({text})\n\n> {text}")
    open_reply = ReplyBlock()
    open_reply.append(f"```\n{text}\n{text}")
    yield open_reply
    thinking = ThinkingBlock()
    thinking.append(text)
    yield thinking
    yield NoticeBlock(text, text, level="warning")
    yield ErrorBlock(text, text)
    yield BannerBlock(name=text, place=text, branch=text, facts=[text], tips=[(text, text)])
    yield from tool_blocks(text)


def all_strips(text: str) -> Iterable[Strip]:
    for width, look in (
        (100, Appearance()),
        (33, Appearance(signs=ASCII)),
        (150, Appearance()),
    ):
        for block in blocks(text):
            yield from block.render(width, look)
            if block.can_fold:
                block.toggle()
                yield from block.render(width, look)
            assert not FORBIDDEN.search(block.plain_text().replace("\n", ""))


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_only_text_and_colours_get_through(case: dict[str, Any]) -> None:
    for strip in all_strips(hostile(case)):
        assert not FORBIDDEN.search(strip.text), repr(strip.text)
        for segment in strip:
            assert segment.control is None
            assert segment.style is None or not (segment.style.meta or segment.style.link)


@pytest.mark.parametrize("text", MARKUP)
def test_markup_is_only_text(text: str) -> None:
    for block in (PromptBlock(text), NoticeBlock(text), call("X", text, summary=text)):
        assert text in "\n".join(strip.text for strip in block.render(100, Appearance()))
    for strip in all_strips(text):
        assert not any(s.style and (s.style.meta or s.style.link) for s in strip)


@pytest.mark.parametrize(
    "code", ["#27", "#x9b", "#x202e", "#8203", "NewLine", "Tab", "#xd800", "#0", "lrm"]
)
def test_what_markdown_spells_out_is_cleaned_too(code: str) -> None:
    source = f"a&{code};b `x` [l&{code};](http://e.org/&{code};x) ![&{code};](&{code};)\n\n| &{code}; |\n|---|\n| &{code}; |\n"
    for strip in ReplyBlock(source).render(80, Appearance()):
        assert not FORBIDDEN.search(strip.text), repr(strip.text)


@pytest.mark.parametrize("case", CASES[::6], ids=lambda case: str(case["id"]))
async def test_the_screen_survives(case: dict[str, Any]) -> None:
    app = ChatApp(list(blocks(hostile(case))))
    async with app.run_test(size=(80, 24)) as pilot:
        app.transcript.action_fold_all()
        app.transcript.count_all()
        await pilot.pause()
        assert not FORBIDDEN.search(app.screen_text().replace("\n", ""))


@pytest.mark.parametrize(
    "line", ["x" * 99 + "\n", "x", "\x1b[31mred\x1b[0m ", "中", "\n"], ids=repr
)
async def test_a_million_characters_of_output_are_bounded(line: str) -> None:
    output = (line * (1_000_000 // len(line) + 1))[:1_000_000]
    live = ToolBlock(ToolStarted(call_id="1", tool="Bash", title="yes"))
    done = call("Bash", "yes", display=[TerminalBlock(command="yes", output=output, exit_code=0)])
    told = call("Read", "big", told=output)
    app = ChatApp([live, done, told, PromptBlock(output), ReplyBlock(output[:50_000])])
    async with app.run_test(size=(100, 30)) as pilot:
        started = time.process_time()
        live.progress(ToolProgress(call_id="1", text=output))
        app.transcript.refresh_block(live)
        app.transcript.action_fold_all()
        app.transcript.count_all()
        await pilot.pause()
        assert time.process_time() - started < 10
        assert sum(map(len, done._texts())) < 100_000
