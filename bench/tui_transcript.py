"""What the transcript costs: a streamed reply, a long chat, and the memory of its blocks."""

import asyncio
import gc
import time
import tracemalloc
from collections.abc import Callable

from textual.app import App, ComposeResult
from textual.widgets import Markdown

from agent_cli.frontends.tui.blocks.base_block import Block
from agent_cli.frontends.tui.blocks.prompt_block import PromptBlock
from agent_cli.frontends.tui.blocks.reply_block import ReplyBlock
from agent_cli.frontends.tui.transcript import Transcript
from bench.rows import Row, at_most, for_information
from bench.timing import ratio, samples

LENGTH = 20_000
CHUNKS = 500
A_SECOND = 200
"""Chunks arrive this fast."""
FEW, MANY = 50, 5_000
_SIZE = (100, 40)
_APPENDED = 40
_PART = """## Part {n}

The quick brown fox jumps over the lazy dog, and **says so** in `fox.py`, see [the notes](https://example.org/{n}).
It does this again, at some length, because a paragraph has to be wrapped to cost anything at all.

- first, it looks
- then it *jumps*, which takes a moment
  - or two

```python
def jump(fox: Fox, dog: Dog, height: float = {n}.0) -> bool:
    return fox.strength > dog.size * height  # physics
```

"""


def run() -> list[Row]:
    """Measure ours beside Textual's own widget, and a long chat beside a short one."""
    streamed = samples({"ours": _ours, "markdown": _markdown}, rounds=2, warm_up=0)
    chats = samples({"few": lambda: _append(FEW), "many": lambda: _append(MANY)}, rounds=3)
    draws = samples({"few": lambda: _draw(FEW), "many": lambda: _draw(MANY)}, rounds=3)
    return [
        for_information("streamed reply, CPU", min(streamed["ours"]), "s"),
        for_information("the same in Textual's Markdown, CPU", min(streamed["markdown"]), "s"),
        at_most("streamed reply", 100 * ratio(streamed["ours"], streamed["markdown"]), "%", 40),
        for_information(f"append at {MANY:,} blocks", 1000 * min(chats["many"]), "ms"),
        at_most(f"append at {MANY:,} to {FEW}", ratio(chats["many"], chats["few"]), "x", 1.5),
        for_information(f"draw at {MANY:,} blocks", 1000 * min(draws["many"]), "ms"),
        at_most(f"draw at {MANY:,} to {FEW}", ratio(draws["many"], draws["few"]), "x", 1.5),
        at_most("memory for a block of 500 characters", _memory(), "kB", 10),
    ]


def reply(length: int = LENGTH) -> str:
    """A Markdown text of a length, with a bit of everything."""
    text = "".join(_PART.format(n=n) for n in range(length // len(_PART) + 1))
    return text[:length]


class _Chat(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.transcript = Transcript()

    def compose(self) -> ComposeResult:
        yield self.transcript


class _Widget(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.markdown = Markdown()

    def compose(self) -> ComposeResult:
        yield self.markdown


def _ours() -> float:
    return asyncio.run(_stream_ours())


def _markdown() -> float:
    return asyncio.run(_stream_markdown())


async def _stream_ours() -> float:
    app = _Chat()
    async with app.run_test(size=_SIZE) as pilot:
        block = ReplyBlock()
        app.transcript.add(block)
        await pilot.pause()

        def feed(text: str) -> None:
            block.append(text)
            app.transcript.refresh_block(block)

        started = time.process_time()
        await _arriving(feed)
        block.finish()
        app.transcript.refresh_block(block)
        app.transcript.flush()
        await pilot.pause()
        return time.process_time() - started


async def _stream_markdown() -> float:
    app = _Widget()
    async with app.run_test(size=_SIZE) as pilot:
        await pilot.pause()
        stream = Markdown.get_stream(app.markdown)
        started = time.process_time()
        pieces: list[str] = []
        await _arriving(pieces.append, then=lambda: stream.write(pieces.pop()))
        await stream.stop()
        await pilot.pause()
        return time.process_time() - started


async def _arriving(
    feed: Callable[[str], object], then: Callable[[], object] | None = None
) -> None:
    """Give the reply piece by piece, at the pace of a fast model."""
    text = reply()
    size = -(-LENGTH // CHUNKS)
    due = time.monotonic()
    for start in range(0, LENGTH, size):
        feed(text[start : start + size])
        if then is not None:
            waiting = then()
            if asyncio.iscoroutine(waiting):
                await waiting
        due += 1 / A_SECOND
        await asyncio.sleep(max(0, due - time.monotonic()))


def _filled(count: int) -> list[Block]:
    text = reply(500)
    return [
        PromptBlock(f"{number} {text[:80]}") if number % 2 else ReplyBlock(f"{number} {text}")
        for number in range(count)
    ]


def _append(count: int) -> float:
    return asyncio.run(_in_chat(count, _appending))


def _draw(count: int) -> float:
    return asyncio.run(_in_chat(count, _scrolling))


async def _in_chat(count: int, measure: Callable[[Transcript], None]) -> float:
    app = _Chat()
    async with app.run_test(size=_SIZE) as pilot:
        for block in _filled(count):
            app.transcript.add(block)
        app.transcript.flush()
        app.transcript.count_all()
        await pilot.pause()
        gc.collect()
        started = time.process_time()
        measure(app.transcript)
        return (time.process_time() - started) / _APPENDED


def _appending(transcript: Transcript) -> None:
    for block in _filled(_APPENDED):
        transcript.add(block)
        transcript.flush()


def _scrolling(transcript: Transcript) -> None:
    for _ in range(_APPENDED):
        transcript.scroll_to(y=transcript.scroll_offset.y - 1, animate=False)
        for y in range(transcript.size.height):
            transcript.render_line(y)


def _memory() -> float:
    return asyncio.run(_weigh(1_000))


async def _weigh(count: int) -> float:
    """Bytes that a chat of replies of 500 characters keeps, with what was drawn of it."""
    app = _Chat()
    async with app.run_test(size=_SIZE) as pilot:
        await pilot.pause()
        text = reply(490)
        gc.collect()
        tracemalloc.start()
        try:
            for number in range(count):
                app.transcript.add(ReplyBlock(f"{number:09} {text}"))
                if number % 10 == 0:
                    app.transcript.flush()
            app.transcript.flush()
            app.transcript.count_all()
            await pilot.pause()
            gc.collect()
            return tracemalloc.get_traced_memory()[0] / count / 1000
        finally:
            tracemalloc.stop()
