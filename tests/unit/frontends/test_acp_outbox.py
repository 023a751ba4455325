"""Updates reach an editor in their order, and a vanished editor stops nothing."""

import asyncio
from typing import Any

from acp import helpers

from agent_cli.controller.background import Background
from agent_cli.frontends.acp.outbox import Outbox


class Editor:
    """Takes its time with each update."""

    def __init__(self, fails: dict[str, Exception] | None = None) -> None:
        self.got: list[str] = []
        self.fails = fails or {}
        self.background = Background(lambda *_: None, lambda *_: None)
        self.outbox = Outbox(self._take, lambda work: self.background.start(work, "") and None)

    async def _take(self, update: Any) -> None:
        await asyncio.sleep(0)
        text = update.content.text
        if text in self.fails:
            raise self.fails[text]
        self.got.append(text)

    def tell(self, words: str) -> None:
        for word in words.split():
            self.outbox.put(helpers.update_agent_message_text(word))


async def test_everything_was_sent_in_order_after_a_flush() -> None:
    editor = Editor()
    editor.tell("a b c")
    await asyncio.sleep(0)
    editor.tell("d e")
    await editor.outbox.flush()
    assert editor.got == ["a", "b", "c", "d", "e"]
    editor.tell("f")
    await asyncio.wait(editor.background.tasks)
    assert editor.got[-1] == "f"


async def test_an_update_that_cannot_be_sent_holds_nothing_up() -> None:
    editor = Editor({"b": ValueError("odd")})
    editor.tell("a b c")
    await editor.outbox.flush()
    assert editor.got == ["a", "c"]


async def test_nothing_is_sent_to_an_editor_that_is_gone() -> None:
    editor = Editor({"b": BrokenPipeError()})
    editor.tell("a b c")
    await editor.outbox.flush()
    editor.tell("d")
    await editor.outbox.flush()
    assert editor.got == ["a"]
