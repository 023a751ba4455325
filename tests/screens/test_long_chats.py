"""What a transcript does not do, however long the chat is."""

import random

import pytest
from textual.strip import Strip

from agent_cli.frontends.tui.appearance import Appearance
from agent_cli.frontends.tui.blocks.base_block import Block
from agent_cli.frontends.tui.blocks.prompt_block import PromptBlock
from agent_cli.frontends.tui.blocks.reply_block import ReplyBlock
from agent_cli.frontends.tui.styled_lines import Line
from tests.kit.chat import ChatApp, call, running, turn

SIZE = (80, 24)


class Counted(Block):
    """Counts how often it is drawn."""

    can_fold = True
    drawn = 0

    def render(self, width: int, look: Appearance) -> list[Strip]:
        Counted.drawn += 1
        return [Line([(f"line {number}", None)]) for number in range(3 + 5 * self.expanded)]

    def plain_text(self) -> str:
        return "counted"


@pytest.fixture(autouse=True)
def fresh_count() -> None:
    Counted.drawn = 0


async def test_a_resumed_chat_draws_only_what_is_visible() -> None:
    app = ChatApp([Counted() for _ in range(5_000)])
    async with app.run_test(size=SIZE):
        assert 5 <= Counted.drawn < 200


async def test_a_new_block_draws_no_other() -> None:
    app = ChatApp([Counted() for _ in range(500)])
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.count_all()
        await pilot.pause()
        Counted.drawn = 0
        app.transcript.add(Counted())
        app.transcript.flush()
        await pilot.pause()
        assert Counted.drawn == 1


async def test_changes_between_two_flushes_are_drawn_once() -> None:
    block = Counted()
    app = ChatApp([block])
    async with app.run_test(size=SIZE):
        Counted.drawn = 0
        for _ in range(100):
            app.transcript.refresh_block(block)
        app.transcript.flush()
        assert Counted.drawn == 1


async def test_a_resize_draws_what_is_visible_first() -> None:
    app = ChatApp([Counted() for _ in range(5_000)])
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.count_all()
        Counted.drawn = 0
        app.transcript._column.reshape(60, app.transcript._column.look)
        app.transcript._settle()
        assert Counted.drawn < 30
        await pilot.pause()


async def test_lines_of_blocks_far_away_are_not_kept() -> None:
    app = ChatApp([ReplyBlock("word " * 100) for _ in range(500)])
    async with app.run_test(size=SIZE) as pilot:
        for y in range(0, 3_000, 20):
            app.transcript.scroll_to(y=y, animate=False)
            app.rows()
        await pilot.pause()
        assert app.transcript._column._cache._lines <= 1_500


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_happens_the_lines_are_where_the_heights_say(seed: int) -> None:
    chance = random.Random(seed)
    app = ChatApp(turn())
    live = ReplyBlock()
    app_blocks: list[Block] = [live]
    async with app.run_test(size=SIZE) as pilot:
        transcript = app.transcript
        transcript.add(live)
        for _ in range(60):
            match chance.randrange(8):
                case 0:
                    live.append(chance.choice(["word ", "\n\n", "- item\n", "```\n", "x = 1\n"]))
                    transcript.refresh_block(live)
                case 1:
                    block = chance.choice(
                        [
                            PromptBlock("p\nq"),
                            running("Bash", "x", output="a\nb\n"),
                            call("Read", "f"),
                        ]
                    )
                    app_blocks.append(block)
                    transcript.add(block)
                case 2:
                    transcript.toggle(chance.choice(transcript.blocks))
                case 3:
                    transcript.scroll_to(y=chance.randrange(80), animate=False)
                case 4:
                    await pilot.resize_terminal(chance.randrange(40, 150), chance.randrange(8, 40))
                case 5:
                    transcript.action_fold_all()
                case 6:
                    transcript.flush()
                case 7:
                    transcript.focus()
                    await pilot.press(
                        chance.choice(["up", "down", "enter", "end", "pageup", "home"])
                    )
            app.rows()
        transcript.count_all()
        await pilot.pause()
        column = transcript._column
        expected: list[str] = []
        for index, block in enumerate(transcript.blocks):
            drawn = [strip.text for strip in block.render(column.width, column.look)]
            expected += [""] * (column._gap(index) if drawn else 0) + drawn
        shown = [
            strip.text
            for line in range(column.heights.total)
            if (strip := column.strip(line)) is not None
        ]
        assert shown == expected
        assert transcript.virtual_size.height == len(expected)
        if transcript.following:
            assert transcript.scroll_offset.y == max(0, len(expected) - transcript.size.height)
