"""The prompt, as a person uses it."""

import os
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from textual import events

from tests.kit.shells import until
from tests.screens.host import Host, screen_text, type_text

HISTORY = ("first question", "second question\nwith two lines", "third question")


async def test_enter_sends_and_empties() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await type_text(pilot, "make it so")
        await pilot.press("enter")
        assert [event.text for event in app.sent] == ["make it so"]
        assert app.sent[0].kind == "prompt"
        assert app.prompt.text == ""


async def test_keys_that_arrive_together_keep_their_order() -> None:
    app = Host()
    async with app.run_test() as pilot:
        for key in ("a", "b", "backspace", "c", "left", "d", "end", "e"):
            app.post_message(events.Key(key, key if len(key) == 1 else None))
        await pilot.pause()
        await until(lambda: app.prompt.text == "adce")


@pytest.mark.parametrize("key", ["shift+enter", "alt+enter", "ctrl+j"])
async def test_these_keys_make_a_new_line(key: str) -> None:
    app = Host()
    async with app.run_test() as pilot:
        await pilot.press("a", key, "b")
        assert app.prompt.text == "a\nb"
        assert app.sent == []


async def test_a_backslash_before_enter_makes_a_new_line() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await pilot.press("a", "backslash", "enter", "b", "enter")
        assert [event.text for event in app.sent] == ["a\nb"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [("!ls -la", "shell"), ("/model gpt", "command"), ("a !b", "prompt")],
)
async def test_the_first_character_tells_what_is_sent(text: str, kind: str) -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.prompt.replace_all(text)
        app.prompt.submit()
        await pilot.pause()
        assert (app.sent[0].kind, app.sent[0].text) == (kind, text)


async def test_a_pasted_exclamation_mark_runs_nothing() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.prompt.receive("paste", "!rm -rf ~\n" * 50)
        await pilot.press("enter")
        assert app.sent[0].kind == "prompt"


async def test_it_grows_to_a_third_of_the_screen_and_shrinks_again() -> None:
    app = Host()
    async with app.run_test(size=(80, 30)) as pilot:
        assert app.prompt.size.height == 1
        app.prompt.replace_all("\n".join("abc"))
        await pilot.pause()
        assert app.prompt.size.height == 3
        app.prompt.replace_all("\n".join("x" * 40))
        await pilot.pause()
        assert app.prompt.size.height == 9
        await pilot.press("enter")
        await pilot.pause()
        assert app.prompt.size.height == 1


async def test_a_long_paste_becomes_a_chip_that_is_sent_whole() -> None:
    app = Host()
    text = "\n".join(f"line {n}" for n in range(2000))
    async with app.run_test() as pilot:
        await type_text(pilot, "see ")
        app.post_message(events.Paste(text))
        await pilot.pause()
        assert app.prompt.text == "see [2,000 lines pasted #1]"
        await pilot.press("!", "enter")
        assert app.sent[0].text == f"see {text}!"


async def test_a_short_paste_is_just_text() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.post_message(events.Paste("a\r\nb\rc"))
        await pilot.pause()
        assert app.prompt.text == "a\nb\nc"
        assert app.sent == []


async def test_a_key_unfolds_the_chip_in_place_and_undo_folds_it() -> None:
    app = Host()
    text = "\n".join("abcdefghijkl")
    async with app.run_test() as pilot:
        app.prompt.receive("paste", text)
        await pilot.press("x", "left", "ctrl+e")
        assert app.prompt.text == text + "x"
        await pilot.press("ctrl+z")
        assert app.prompt.text == "[12 lines pasted #1]x"
        await pilot.press("ctrl+y")
        assert app.prompt.text == text + "x"


async def test_away_from_a_chip_the_same_key_goes_to_the_end_of_the_line() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await pilot.press("a", "b", "home", "ctrl+e", "c")
        assert app.prompt.text == "abc"


async def test_a_chip_is_one_thing_to_the_caret_and_to_backspace() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.prompt.receive("paste", "x\n" * 20)
        chip = app.prompt.text
        await pilot.press("left")
        assert app.prompt.cursor_location == (0, 0)
        await pilot.press("right")
        assert app.prompt.cursor_location == (0, len(chip))
        await pilot.press("backspace")
        assert app.prompt.text == ""
        await pilot.press("ctrl+z", "enter")
        assert app.sent[0].text == "x\n" * 20


async def test_what_a_paste_says_about_chips_is_left_alone() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.prompt.receive("paste", "[20 lines pasted #1]\n" * 20)
        app.prompt.receive("paste", "y\n" * 20)
        await pilot.press("enter")
        assert app.sent[0].text == "[20 lines pasted #1]\n" * 20 + "y\n" * 20


@pytest.mark.parametrize("piece", ["x", "0123456789\n"])
async def test_five_megabytes_do_not_freeze_it(piece: str) -> None:
    app = Host()
    text = piece * (5_000_000 // len(piece))
    async with app.run_test() as pilot:
        start = time.process_time()
        app.post_message(events.Paste(text))
        await pilot.pause()
        await pilot.press("a", "enter")
        assert time.process_time() - start < 5
        assert app.sent[-1].text == text + "a"


async def test_control_characters_of_a_paste_do_not_reach_the_terminal() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.post_message(events.Paste("a\x1b[31mb\x07\x9b0m\u202ec"))
        await pilot.pause()
        assert app.prompt.text.isprintable()
        assert app.prompt.text.startswith("a[31mb")


async def test_undo_and_redo() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await type_text(pilot, "abc")
        await pilot.press("ctrl+c")
        assert app.prompt.text == ""
        await pilot.press("ctrl+z")
        assert app.prompt.text == "abc"
        await pilot.press("ctrl+y")
        assert app.prompt.text == ""


async def test_ctrl_c_clears_and_then_tells_the_app() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await pilot.press("a", "ctrl+c")
        assert (app.prompt.text, app.heard) == ("", [])
        await pilot.press("ctrl+c")
        assert app.heard == ["cancelled"]


async def test_esc_and_an_empty_enter_are_told_to_the_app() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await pilot.press("a", "escape", "backspace", "enter")
        assert app.heard == ["escaped", "empty"]


async def test_up_and_down_walk_the_history_and_come_back_to_the_draft() -> None:
    app = Host(history=HISTORY)
    async with app.run_test() as pilot:
        await type_text(pilot, "draft")
        seen = []
        for key in ("up", "up", "up", "up", "up"):
            await pilot.press(key)
            seen.append(app.prompt.text)
        # The second one has two lines: the first Up only moves the caret in it.
        assert seen == [HISTORY[2], HISTORY[1], HISTORY[1], HISTORY[0], HISTORY[0]]
        for _ in range(4):
            await pilot.press("down")
        assert app.prompt.text == "draft"


async def test_ctrl_r_searches_the_history() -> None:
    app = Host(history=HISTORY)
    async with app.run_test() as pilot:
        await pilot.press("ctrl+r")
        assert "third question" in screen_text(app)
        await type_text(pilot, "two")
        await pilot.pause()
        assert [item.value for item in app.composer.completion.items] == [HISTORY[1]]
        await pilot.press("enter")
        assert (app.prompt.text, app.sent) == (HISTORY[1], [])
        assert not app.composer.is_open


async def test_esc_leaves_the_search_with_the_text_from_before() -> None:
    app = Host(history=HISTORY)
    async with app.run_test() as pilot:
        await type_text(pilot, "question")
        await pilot.press("ctrl+r", "x", "escape")
        assert (app.prompt.text, app.heard) == ("question", [])
        assert not app.composer.is_open


async def test_a_search_that_finds_nothing_says_so() -> None:
    app = Host(history=HISTORY)
    async with app.run_test() as pilot:
        await type_text(pilot, "nowhere")
        await pilot.press("ctrl+r")
        await pilot.pause()
        assert "no earlier prompt matches" in screen_text(app)
        await pilot.press("enter")
        assert (app.prompt.text, app.sent) == ("nowhere", [])
        assert not app.composer.is_open
        await pilot.press("enter")
        assert [each.text for each in app.sent] == ["nowhere"]


async def test_the_editor_changes_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "editor.py"
    program.write_text(
        "import pathlib, sys\n"
        "path = pathlib.Path(sys.argv[1])\n"
        "path.write_text(path.read_text().upper() + '\\n')\n"
    )
    monkeypatch.setenv("VISUAL", f"{sys.executable} {program}")
    app = Host()
    monkeypatch.setattr(app, "suspend", _nothing)
    async with app.run_test() as pilot:
        await type_text(pilot, "abc")
        await pilot.press("ctrl+g")
        await app.workers.wait_for_complete()
        assert app.prompt.text == "ABC"


async def test_a_missing_editor_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", f"/nowhere/[b]editor{os.getpid()}")
    app = Host()
    monkeypatch.setattr(app, "suspend", _nothing)
    async with app.run_test() as pilot:
        await type_text(pilot, "abc")
        await pilot.press("ctrl+g")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.prompt.text == "abc"


@contextmanager
def _nothing():
    yield


async def test_the_terminals_cursor_stands_on_the_caret() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        await type_text(pilot, "你好a")
        await pilot.pause()
        # Bar and padding take two cells, each Chinese character two; the status line is below.
        assert app.cursor_position == (2 + 5, 18)
        await pilot.press("ctrl+j")
        await pilot.pause()
        assert app.cursor_position == (2, 18)
        app.composer.queue.messages = ("waiting",)
        await pilot.pause()
        assert app.cursor_position == (2, 18)
        await pilot.resize_terminal(60, 30)
        await pilot.pause()
        assert app.cursor_position == (2, 28)


async def test_queued_messages_are_shown_above_the_prompt() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        app.composer.queue.messages = ("one", "two [b]x[/b]", "three\nlines", "four\x1b[2J")
        await pilot.pause()
        shown = screen_text(app)
        assert "1 more" in shown
        assert "two [b]x[/b]" in shown
        assert "three lines" in shown
        assert "\x1b" not in shown
        await pilot.press("x")
        app.prompt.prepend("four\x1b[2J")
        assert app.prompt.text == "four[2J\nx"


async def test_an_empty_queue_takes_no_room() -> None:
    app = Host()
    async with app.run_test() as pilot:
        height = app.composer.size.height
        app.composer.queue.messages = ("a",)
        await pilot.pause()
        assert app.composer.size.height == height + 1
        app.composer.queue.messages = ()
        await pilot.pause()
        assert app.composer.size.height == height
