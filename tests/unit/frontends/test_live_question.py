"""A question below the scrollback tells answers from typing."""

import asyncio

from agent_cli.controller.answers import AnswerOption
from agent_cli.frontends.repl.live_question import ANSWERABLE, PASSED_ON, LiveQuestion

ANSWERS = (AnswerOption("no", "No", "n"), AnswerOption("once", "Yes, once", "y"))


class Asked:
    """A question that was painted, and what it passed on to the prompt."""

    def __init__(self, leave: str = "") -> None:
        self.passed: list[tuple[str, str]] = []
        self._redrawn = asyncio.Event()
        self.question = LiveQuestion("Run it?", ANSWERS, leave, self._pass_on, self._redrawn.set)

    def _pass_on(self, key: str, text: str) -> None:
        self.passed.append((key, text))

    async def armed(self) -> LiveQuestion:
        self.question.mark_painted()
        while not self.question.is_armed:
            await self._redrawn.wait()
            self._redrawn.clear()
        return self.question


async def test_keys_before_it_was_in_view_go_to_the_prompt() -> None:
    asked = Asked()
    asked.question.press("", "y")
    asked.question.mark_painted()
    asked.question.press("", "y")
    asked.question.press("enter", "")
    assert asked.passed == [("", "y"), ("", "y"), ("enter", "")]
    assert asked.question.hint == PASSED_ON
    question = await asked.armed()
    assert ANSWERABLE in question.hint, "it can be answered once it was quiet"
    question.press("", "y")
    assert await question.given == "once"
    question.close()


async def test_a_key_in_the_midst_of_a_word_does_not_answer() -> None:
    asked = Asked()
    question = await asked.armed()
    for letter in "yes":
        question.press("", letter)
    assert asked.passed == [("", "y"), ("", "e"), ("", "s")]
    assert not question.is_armed
    assert not question.given.done()
    question.close()


async def test_enter_in_the_same_burst_is_typing_too() -> None:
    asked = Asked()
    question = await asked.armed()
    question.press("", "y")
    question.press("enter", "")
    assert asked.passed == [("", "y"), ("enter", "")]
    assert not question.given.done()
    question.close()


async def test_a_paste_takes_back_the_key_before_it() -> None:
    asked = Asked()
    question = await asked.armed()
    question.press("", "y")
    question.paste("y\n")
    assert asked.passed == [("", "y"), ("paste", "y\n")]
    assert not question.given.done()
    question.close()


async def test_escape_leaves_and_enter_gives_where_the_cursor_is() -> None:
    leaving = await Asked(leave="skip").armed()
    leaving.press("escape", "")
    assert await leaving.given == "skip"
    choosing = await Asked().armed()
    choosing.press("down", "")
    choosing.press("enter", "")
    assert await choosing.given == "once"
    for question in (leaving, choosing):
        question.close()


async def test_no_key_leads_from_no_to_the_last_yes() -> None:
    question = await Asked().armed()
    for key in ("s-tab", "up"):
        question.press(key, "")
        assert question.cursor == 0
    for _ in range(3):
        question.press("down", "")
    assert question.cursor == len(ANSWERS) - 1
