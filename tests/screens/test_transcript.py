"""The transcript on a screen: what it shows, where it stays, what can be done with it."""

from collections.abc import Sequence

import pytest
from textual.geometry import Offset
from textual.selection import Selection

from agent_cli.frontends.tui.appearance import Appearance
from agent_cli.frontends.tui.blocks.base_block import Block
from agent_cli.frontends.tui.blocks.notice_block import ErrorBlock
from agent_cli.frontends.tui.blocks.prompt_block import PromptBlock
from agent_cli.frontends.tui.blocks.reply_block import ReplyBlock
from agent_cli.frontends.tui.blocks.thinking_block import ThinkingBlock
from agent_cli.frontends.tui.transcript import Transcript
from tests.kit.chat import ChatApp, call, edit, running, turn
from tests.kit.shells import until

SIZE = (100, 30)


def numbered(count: int) -> list[Block]:
    return [PromptBlock(f"prompt {number}") for number in range(count)]


async def test_a_turn_reads_like_the_sketch() -> None:
    app = ChatApp(turn())
    async with app.run_test(size=(100, 50)) as pilot:
        app.transcript.scroll_home(animate=False)
        await pilot.pause()
        shown = app.screen_text()
    assert "▌ make the login test pass" in shown
    assert '  ✅ Grep   "def test_login" in tests/           2 matches in 1 file' in shown
    assert "     │ 42 −     return user.password == password" in shown
    assert "  ✋ Bash   rm -rf build                         waiting for you" in shown
    assert "  thought for 3 s" in shown


async def test_calls_stand_together_and_apart_from_the_reply() -> None:
    blocks = [
        ReplyBlock("I look."),
        call("Read", "a.py"),
        call("Read", "b.py"),
        ReplyBlock("Done."),
    ]
    app = ChatApp(blocks)
    async with app.run_test(size=SIZE):
        rows = app.rows()[:7]
    assert [bool(row) for row in rows] == [True, False, True, True, False, True, False]


async def test_status_words_stand_in_one_column() -> None:
    app = ChatApp(
        [call("Grep", "x", summary="2 matches"), call("Read", "tests/a.py", summary="64 lines")]
    )
    async with app.run_test(size=SIZE):
        first, second = app.rows()[:2]
    assert first.index("2 matches") == second.index("64 lines")
    assert len(first) == len(second)


@pytest.mark.parametrize("size", [(60, 20), (30, 10), (100, 30), (240, 70)])
async def test_nothing_is_wider_than_the_screen(size: tuple[int, int]) -> None:
    app = ChatApp([*turn(), ReplyBlock("很长的中文句子，" * 40), PromptBlock("字" * 500)])
    async with app.run_test(size=size):
        app.transcript.action_fold_all()
        app.transcript.count_all()
        column = app.transcript._column
        for line in range(column.heights.total):
            strip = column.strip(line)
            assert strip is not None
            assert strip.cell_length <= app.transcript.size.width, strip.text


async def test_the_main_argument_is_shortened_in_the_middle_when_it_is_narrow() -> None:
    app = ChatApp(
        [call("Read", "src/very/long/path/to/some/module/in/the/tree/auth.py", summary="64 lines")]
    )
    async with app.run_test(size=(60, 20)):
        row = app.rows()[0]
    assert "src/" in row
    assert "…" in row
    assert "auth.py" in row
    assert "64 lines" not in row


async def test_the_view_follows_the_end() -> None:
    app = ChatApp(numbered(50))
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.add(PromptBlock("the last"))
        app.transcript.flush()
        await pilot.pause()
        assert app.transcript.following
        assert app.rows()[-1] == "▌ the last"


async def test_the_view_holds_still_while_text_streams_in_below() -> None:
    reply = ReplyBlock()
    app = ChatApp([*numbered(50), reply])
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.scroll_to(y=20, animate=False)
        await pilot.pause()
        before = app.rows()
        for number in range(40):
            reply.append(f"paragraph {number}\n\n")
            app.transcript.refresh_block(reply)
            app.transcript.flush()
        await pilot.pause()
        assert app.rows()[:-1] == before[:-1]
        assert app.rows()[-1].endswith("↓ new")
        await pilot.click(Transcript, offset=(96, app.transcript.size.height - 1))
        assert app.transcript.following
        assert "paragraph 39" in app.screen_text()
        assert "↓ new" not in app.screen_text()


async def test_the_end_key_brings_back_to_the_end() -> None:
    app = ChatApp(numbered(50))
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.focus()
        await pilot.press("home")
        await until(lambda: not app.transcript.following)
        await pilot.wait_for_animation()
        await pilot.press("end")
        await until(lambda: app.transcript.following)
        await pilot.pause()
        assert app.rows()[-1].endswith("prompt 49")


async def test_enter_unfolds_the_selected_block_and_folds_it_again() -> None:
    app = ChatApp(
        [PromptBlock("look"), call("Read", "a.py", summary="2 lines", told="1 alpha\n2 beta")]
    )
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.focus()
        await pilot.pause()
        assert "alpha" not in app.screen_text()
        await pilot.press("enter")
        assert "     │ 1 alpha" in app.screen_text()
        await pilot.press("enter")
        assert "alpha" not in app.screen_text()


async def test_a_click_on_its_line_unfolds_a_call() -> None:
    app = ChatApp([call("Read", "a.py", told="alpha")])
    async with app.run_test(size=SIZE) as pilot:
        await pilot.click(Transcript, offset=(10, 0))
        assert "alpha" in app.screen_text()
        await pilot.click(Transcript, offset=(10, 1))
        assert "alpha" in app.screen_text(), "a click into the details may begin a selection"


async def test_the_line_that_is_unfolded_stays_where_it_is() -> None:
    blocks: list[Block] = [
        call("Read", f"{n}.py", told="\n".join(map(str, range(100)))) for n in range(60)
    ]
    app = ChatApp(blocks)
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.scroll_to(y=10, animate=False)
        await pilot.pause()
        await pilot.click(Transcript, offset=(10, 5))
        assert " 10.py" in app.rows()[0]
        assert " 15.py" in app.rows()[5]


async def test_all_blocks_unfold_at_once() -> None:
    app = ChatApp([call("Read", "a.py", told="alpha"), call("Read", "b.py", told="beta")])
    async with app.run_test(size=SIZE):
        app.transcript.action_fold_all()
        assert "alpha" in app.screen_text()
        assert "beta" in app.screen_text()
        app.transcript.action_fold_all()
        assert "alpha" not in app.screen_text()


async def test_r_asks_to_retry_a_failed_turn() -> None:
    app = ChatApp([ErrorBlock("The model is overloaded.")])
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.focus()
        await pilot.press("r")
        await pilot.pause()
        assert [type(message) for message in app.posted] == [Transcript.RetryAsked]


async def selected_text(
    blocks: Sequence[Block], start: tuple[int, int], end: tuple[int, int], width: int = 60
) -> str:
    app = ChatApp(blocks)
    async with app.run_test(size=(width, 20)):
        app.transcript.count_all()
        found = app.transcript.get_selection(Selection(Offset(*start), Offset(*end)))
    assert found is not None
    return found[0]


async def test_what_is_copied_has_no_bars_and_no_broken_lines() -> None:
    words = " ".join(f"word{number}" for number in range(20))
    blocks = [PromptBlock("ask"), ReplyBlock(f"{words}\n\n```\nx = 1\n    y = 2\n```")]
    text = await selected_text(blocks, (0, 0), (40, 9))
    assert text == f"ask\n\n{words}\n\nx = 1\n    y = 2"


async def test_chinese_is_copied_without_gaps() -> None:
    assert await selected_text([ReplyBlock("中文" * 60)], (0, 0), (80, 5)) == "中文" * 60


async def test_a_selection_may_begin_and_end_inside_of_lines() -> None:
    assert (
        await selected_text([PromptBlock("hello"), PromptBlock("world")], (4, 0), (5, 2))
        == "llo\n\nwor"
    )


async def test_the_mouse_selects_across_blocks() -> None:
    app = ChatApp([PromptBlock("hello there"), ReplyBlock("general remark")])
    async with app.run_test(size=SIZE) as pilot:
        await pilot.mouse_down(Transcript, offset=(2, 0))
        await pilot.hover(Transcript, offset=(8, 2))
        await pilot.mouse_up(Transcript, offset=(8, 2))
        await pilot.pause()
        assert app.screen.get_selected_text() == "hello there\n\ngeneral"


async def test_selected_text_stays_readable() -> None:
    app = ChatApp([PromptBlock("hello there")])
    async with app.run_test(size=SIZE) as pilot:
        await pilot.mouse_down(Transcript, offset=(2, 0))
        await pilot.hover(Transcript, offset=(6, 0))
        await pilot.mouse_up(Transcript, offset=(6, 0))
        await pilot.pause()
        lit = [s for s in app.transcript.render_line(0) if s.text == "hello"]
        plain = [s for s in app.transcript.render_line(0) if "there" in s.text]
        assert lit[0].style is not None
        assert plain[0].style is not None
        assert lit[0].style.bgcolor != plain[0].style.bgcolor
        assert lit[0].style.color == plain[0].style.color != lit[0].style.bgcolor


async def test_a_narrower_window_wraps_what_is_visible_first_and_stays_in_place() -> None:
    text = "word " * 60
    app = ChatApp([ReplyBlock(f"{number} {text}") for number in range(200)])
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.count_all()
        app.transcript.scroll_to(y=100, animate=False)
        await pilot.pause()
        first = next(
            row.split()[0] for row in app.rows() if row.split()[:1] and row.split()[0].isdigit()
        )
        await pilot.resize_terminal(60, 20)
        await pilot.pause()
        assert any(row.split()[:1] == [first] for row in app.rows())
        assert all(len(row) < 60 for row in app.rows())
        app.transcript.count_all()
        await pilot.pause()
        assert any(row.split()[:1] == [first] for row in app.rows())


async def look_in(theme: str) -> Appearance:
    app = ChatApp()
    app.theme = theme
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        return app.transcript._column.look


async def test_another_theme_changes_all_colours_but_no_lines() -> None:
    app = ChatApp(turn())
    async with app.run_test(size=SIZE) as pilot:
        before = app.rows()
        for theme in ("textual-light", "nord", "textual-dark"):
            app.theme = theme
            await pilot.pause()
            assert app.rows() == before
            assert app.transcript._column.look == await look_in(theme)


async def test_without_colours_words_and_signs_remain_and_nothing_is_grey_but_the_dim(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = ChatApp(
        [running("Bash", "pytest", output="\x1b[31mF\x1b[0m.."), call("X", "y", failed="no")]
    )
    async with app.run_test(size=SIZE):
        assert app.transcript._column.look.styles.failure.color is None
        assert app.transcript._column.look.styles.failure.bold
        coloured = {
            s.style.color for s in app.transcript.render_line(1) if s.style and "F" in s.text
        }
        assert coloured == {app.transcript.rich_style.color}
        assert "❌ X" in app.screen_text()


async def test_a_running_call_costs_no_layout() -> None:
    block = running("Bash", "make", seconds=1.0)
    app = ChatApp([*numbered(40), block])
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        laid_out: list[bool] = []
        app.transcript.refresh = _spy(app.transcript.refresh, laid_out)  # type: ignore[method-assign]
        for number in range(10):
            block._clock = lambda number=number: float(number)  # type: ignore[misc]
            app.transcript._tick()
            app.transcript.flush()
        assert laid_out
        assert not any(laid_out)
        assert app.rows()[-1].endswith("9.0 s")


async def test_a_call_that_waits_for_the_person_is_not_drawn_again() -> None:
    block = running("Bash", "make", seconds=1.0)
    app = ChatApp([block])
    async with app.run_test(size=SIZE) as pilot:
        block.asking()
        app.transcript.refresh_block(block)
        await pilot.pause()
        app.transcript._tick()
        drawn: list[bool] = []
        app.transcript.refresh = _spy(app.transcript.refresh, drawn)  # type: ignore[method-assign]
        block._clock = lambda: 9.0
        app.transcript._tick()
        app.transcript.flush()
        assert not drawn
        block.resume()
        app.transcript.refresh_block(block)
        app.transcript._tick()
        app.transcript.flush()
        assert drawn
        assert any(row.endswith("9.0 s") for row in app.rows())


def _spy(refresh, laid_out):  # type: ignore[no-untyped-def]
    def spying(*regions, repaint=True, layout=False, recompose=False):  # type: ignore[no-untyped-def]
        laid_out.append(layout)
        return refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    return spying


async def test_thinking_shows_its_last_line_then_how_long_it_took() -> None:
    block = ThinkingBlock(clock=iter((0.0, 3.0)).__next__)
    app = ChatApp([block])
    async with app.run_test(size=SIZE):
        block.append("First this.\nThen that.")
        app.transcript.refresh_block(block)
        app.transcript.flush()
        assert app.rows()[0] == "  thinking… Then that."
        block.finish()
        app.transcript.refresh_block(block)
        app.transcript.flush()
        assert app.rows()[0] == "  thought for 3 s"
        app.transcript.toggle(block)
        assert "  │ First this." in app.rows()


async def test_a_cleared_transcript_is_empty_and_can_be_filled_again() -> None:
    app = ChatApp(turn())
    async with app.run_test(size=SIZE) as pilot:
        app.transcript.clear()
        await pilot.pause()
        assert not any(app.rows())
        app.transcript.add(edit())
        app.transcript.flush()
        assert "Edit" in app.rows()[0]


async def test_blocks_may_be_added_before_the_screen_is_up() -> None:
    app = ChatApp()
    app.transcript.add(PromptBlock("early"))
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        assert app.rows()[0] == "▌ early"
