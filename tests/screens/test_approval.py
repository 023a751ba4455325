"""Asking for permission: all is shown, and only an answer answers."""

import asyncio
import random
import string
import time
from typing import Any

import pytest
from textual import events

from agent_cli.core.display import DiffBlock, TextBlock
from agent_cli.core.inbox import Approval, ApprovalRequest, Step
from agent_cli.frontends.shared.approval_text import where
from agent_cli.frontends.shared.typed_ahead import TypedAhead
from agent_cli.frontends.tui.modals.approval_modal import ApprovalModal
from tests.kit.shells import until
from tests.screens.host import Host, at_once, not_yet, readable, screen_text, type_text


def request(**changes: Any) -> ApprovalRequest:
    values: dict[str, Any] = {
        "id": "ask-1",
        "call_id": "c1",
        "tool": "Bash",
        "title": "cd build && rm -rf *",
        "reasons": ("rm with -r and -f is destructive",),
        "preview": TextBlock(text="cd build && rm -rf * ../dist", language="bash"),
        "description": "clean the build output",
        "consequences": ("deletes 213 files, 14 MB",),
        "steps": (
            Step(text="cd build", note="inside the project"),
            Step(text="rm -rf * ../dist", note="deletes 213 files"),
        ),
        "resolved": ("docs/x → ~/y",),
        "rule": "Bash(rm -rf build/*)",
    }
    return ApprovalRequest(**(values | changes))


LONG = request(preview=TextBlock(text="\n".join(f"echo {n}" for n in range(300)), language="bash"))


async def test_it_shows_what_a_person_needs() -> None:
    app = Host()
    async with app.run_test(size=(100, 40)) as pilot:
        app.ask(ApprovalModal(request(), runs="in the sandbox, in ~/src/shop", position="1 of 3"))
        await readable(app, pilot)
        shown = screen_text(app)
    for text in (
        "Run this command?",
        "1 of 3",
        "cd build && rm -rf * ../dist",
        "1  cd build",
        "inside the project",
        "2  rm -rf * ../dist",
        "Consequences    deletes 213 files, 14 MB",
        "Leads to        docs/x → ~/y",
        "Asked because   rm with -r and -f is destructive",
        "Runs            in the sandbox, in ~/src/shop",
        "The model says  “clean the build output”",
        "▸ No",
        "Yes, always in this session  s    Bash(rm -rf build/*)",
        "Yes, always in this project  p    Bash(rm -rf build/*)",
    ):
        assert text in shown


def test_it_says_what_confines_a_command_and_nothing_of_a_change() -> None:
    outside = request(directory="/src/shop")
    inside = request(directory="/src/shop", sandbox="bubblewrap")
    assert where(outside) == "without a sandbox, in /src/shop"
    assert where(inside) == "in the sandbox (bubblewrap), without network, in /src/shop"
    assert where(request(steps=())) == ""


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("n", Approval()),
        ("y", Approval(answer="once")),
        ("s", Approval(answer="session")),
        ("p", Approval(answer="project")),
        ("escape", Approval()),
        ("enter", Approval()),
    ],
)
async def test_each_answer_has_its_key(key: str, answer: Approval) -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.ask(ApprovalModal(request(), guard=at_once()))
        await readable(app, pilot)
        await pilot.press(key)
        await answered(app, pilot)
        assert app.answers == [answer]


async def answered(app: Host, pilot: Any) -> None:
    """Wait until the modal is gone."""
    async with asyncio.timeout(30):
        while not app.answers:
            await pilot.pause(0.01)


async def test_arrows_and_enter_answer_too() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.ask(ApprovalModal(request(), guard=at_once()))
        await readable(app, pilot)
        await pilot.press("down", "down", "enter")
        await answered(app, pilot)
        assert app.answers == [Approval(answer="once")]


async def test_a_no_can_say_why() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.ask(ApprovalModal(request(), guard=at_once()))
        await readable(app, pilot)
        await pilot.press("b")
        async with asyncio.timeout(30):
            while app.focused is None:
                await pilot.pause(0.01)
        await type_text(pilot, "use make clean yes")
        await pilot.press("enter")
        await answered(app, pilot)
        assert app.answers == [Approval(reason="use make clean yes")]


async def test_esc_in_the_reason_goes_back_to_the_answers() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.ask(ApprovalModal(request(), guard=at_once()))
        await readable(app, pilot)
        await pilot.press("b")
        await pilot.pause(0.05)
        await pilot.press("y", "escape")
        await pilot.pause()
        assert (app.answers, app.focused) == ([], None)
        await pilot.press("escape")
        await answered(app, pilot)
        assert app.answers == [Approval()]


async def test_without_a_rule_there_is_no_always() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.ask(ApprovalModal(request(rule=None), guard=at_once()))
        await readable(app, pilot)
        assert "always" not in screen_text(app)
        await pilot.press("s", "p")
        await pilot.pause(0.05)
        assert app.answers == []


async def test_yes_waits_until_the_end_has_been_seen() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        app.ask(ApprovalModal(LONG, guard=at_once()))
        await readable(app, pilot)
        await pilot.press("y")
        await pilot.pause(0.05)
        await pilot.press("down", "down", "enter")
        await pilot.pause(0.05)
        assert app.answers == []
        await pilot.press("ctrl+end")
        await pilot.pause()
        await pilot.press("y")
        await answered(app, pilot)
        assert app.answers == [Approval(answer="once")]


async def test_no_never_waits() -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        app.ask(ApprovalModal(LONG, guard=at_once()))
        await readable(app, pilot)
        await pilot.press("n")
        await answered(app, pilot)
        assert app.answers == [Approval()]


async def test_a_whole_diff_can_be_read() -> None:
    diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- old comment\n+++ new comment\n same\n"
    block = DiffBlock(path="x.sql", diff=diff, added=1, removed=1)
    app = Host()
    async with app.run_test(size=(100, 40)) as pilot:
        app.ask(ApprovalModal(request(preview=block, steps=())))
        await readable(app, pilot)
        shown = screen_text(app)
    assert "Make this change?" in shown
    assert "--- old comment" in shown
    assert "+++ new comment" in shown
    assert "--- a/x" not in shown


async def test_typing_that_began_before_it_appeared_never_answers() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.ask(ApprovalModal(request(), guard=not_yet()))
        await type_text(pilot, "yes please sync")
        assert app.answers == []
        assert app.prompt.text == "yes please sync"


@pytest.mark.parametrize("seed", range(2))
async def test_random_typing_never_answers(seed: int) -> None:
    chosen = random.Random(seed)
    typed = "".join(chosen.choice("ynspb" + string.ascii_letters) for _ in range(40))
    app = Host()
    async with app.run_test() as pilot:
        await type_text(pilot, typed[:10])
        app.ask(ApprovalModal(request(), guard=not_yet()))
        await type_text(pilot, typed[10:])
        assert app.answers == []
        assert app.prompt.text == typed


async def test_an_enter_typed_ahead_sends_the_prompt_and_answers_nothing() -> None:
    app = Host()
    async with app.run_test() as pilot:
        await type_text(pilot, "and then")
        app.ask(ApprovalModal(request(), guard=not_yet()))
        await pilot.press("y", "backspace", "enter")
        await pilot.pause()
        assert app.answers == []
        assert [event.text for event in app.sent] == ["and then"]


async def test_an_esc_typed_ahead_goes_where_it_was_meant_to() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.ask(ApprovalModal(request(), guard=not_yet()))
        await pilot.press("escape")
        assert (app.answers, app.heard) == ([], ["escaped"])


async def test_a_paste_never_answers() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.ask(ApprovalModal(request(), guard=at_once()))
        await readable(app, pilot)
        app.post_message(events.Paste("y\n"))
        await pilot.pause()
        assert app.answers == []
        assert app.prompt.text == "y\n"


async def test_a_paste_that_arrives_as_keys_never_answers() -> None:
    """Terminals without bracketed paste: armed or not, a burst is not an answer."""
    app = Host()
    async with app.run_test() as pilot:
        app.ask(ApprovalModal(request(), guard=TypedAhead(arm=0.0, settle=10.0)))
        await readable(app, pilot)
        for key in ("y", "enter"):
            app.post_message(events.Key(key, "y" if key == "y" else "\r"))
        await pilot.pause()
        assert app.answers == []
        assert [event.text for event in app.sent] == ["y"]


async def test_a_word_that_begins_like_an_answer_is_a_word() -> None:
    app = Host()
    async with app.run_test() as pilot:
        guard = TypedAhead(arm=60.0, settle=60.0)
        app.ask(ApprovalModal(request(), guard=guard))
        await readable(app, pilot)
        guard.mark_painted(time.monotonic() - 120)
        await type_text(pilot, "y es")
        assert app.answers == []
        assert app.prompt.text == "y es"


async def test_the_next_request_has_to_be_read_as_well() -> None:
    app = Host()
    async with app.run_test() as pilot:
        app.ask(ApprovalModal(request(), position="1 of 2", guard=at_once()))
        await readable(app, pilot)
        await pilot.press("n")
        await answered(app, pilot)
        app.ask(ApprovalModal(request(), position="1 of 2", guard=not_yet()))
        await pilot.press("y", "y")
        assert app.answers == [Approval()]
        assert app.prompt.text == "yy"


async def test_a_click_answers_only_what_is_on_the_screen() -> None:
    app = Host()
    async with app.run_test(size=(100, 40)) as pilot:
        app.ask(ApprovalModal(request(), guard=not_yet()))
        await readable(app, pilot)
        await pilot.click("AnswerList", offset=(4, 2))
        assert app.answers == []


async def test_ten_thousand_lines_are_no_trouble() -> None:
    lines = "\n".join(f"+line {n} 你好" for n in range(10_000))
    block = DiffBlock(path="big", diff=f"@@ -0,0 +1 @@\n{lines}", added=10_000)
    app = Host()
    async with app.run_test() as pilot:
        modal = ApprovalModal(request(preview=block), guard=at_once())
        app.ask(modal)
        await readable(app, pilot)
        await pilot.press("ctrl+end")
        await until(lambda: modal.seen_end)
        await pilot.press("y")
        await answered(app, pilot)
        assert app.answers == [Approval(answer="once")]
