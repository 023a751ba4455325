"""Context, cost and compaction on the screen."""

import pytest

from agent_cli.frontends.tui import screen_view
from agent_cli.frontends.tui.modals.question_modal import QuestionModal
from tests.kit.sessions import SceneMaker
from tests.screens.app import running
from tests.screens.host import at_once

READS = {
    "calls": [{"name": "Read", "arguments": {"file_path": "a"}}],
    "usage": {"input_tokens": 9_000, "output_tokens": 20, "cached_tokens": 4_000, "cost": 0.01},
}
DONE = {"text": "It is a.", "usage": {"input_tokens": 10_000, "output_tokens": 10}}
SUMMARY = {"text": "## Goal\nnone", "usage": {"input_tokens": 100}}


@pytest.fixture(autouse=True)
def no_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests are not about keys typed ahead."""
    monkeypatch.setattr(
        screen_view, "QuestionModal", lambda request: QuestionModal(request, guard=at_once())
    )


async def test_context_and_cost_are_tables(make_session: SceneMaker) -> None:
    scene = make_session(READS, DONE, files={"a": "words\n" * 300}, window=100_000)
    async with running(scene) as screen:
        await screen.send("go")
        await screen.shows("It is a.")
        await screen.idle()
        assert "$0.01+?" in screen.status
        await screen.send("/context")
        await screen.shows("of 100,000 tokens (10%)", "files read", "free", "█")
        await screen.send("/cost")
        await screen.shows("unknown price for 10,010 tokens", "from cache", "4,000")


async def test_what_was_interrupted_has_its_price(make_session: SceneMaker) -> None:
    scene = make_session({"text": "Half of it", "hang": True})
    async with running(scene) as screen:
        await screen.send("go")
        await screen.shows("Half of it")
        await screen.pilot.press("escape")
        await screen.idle()
        assert "$?" in screen.status
        await screen.send("/cost")
        await screen.shows("of these tokens are estimated", "unknown price")


async def test_a_compaction_is_shown_first_and_folds_afterwards(make_session: SceneMaker) -> None:
    scene = make_session(READS, DONE, SUMMARY, files={"a": "words\n" * 300})
    async with running(scene) as screen:
        await screen.send("What is in a?")
        await screen.shows("It is a.")
        await screen.idle()
        before = scene.session.messages
        await screen.send("/compact")
        await screen.asked("agent asks", "1 message of yours", "1 Read result", "## Goal")
        await screen.pilot.press("1")
        await screen.shows("Compacted: about")
        await screen.idle()
        assert scene.session.messages != before
        assert "Summarised:" not in screen.text
        await screen.pilot.press("ctrl+o")
        await screen.shows("Summarised:")
        await screen.send("/compact undo")
        await screen.shows("Undone")
        assert scene.session.messages == before


async def test_pins_and_recall(make_session: SceneMaker) -> None:
    scene = make_session(READS, DONE, SUMMARY, files={"a": "xylophone\n" * 300})
    async with running(scene) as screen:
        await screen.send("go")
        await screen.shows("It is a.")
        await screen.idle()
        await screen.send("/pin Keep the tests green.")
        await screen.shows("Pinned: Keep the tests green.")
        (scene.workspace / "a").unlink()
        await screen.send("/compact")
        await screen.asked("agent asks", "pin: Keep the tests green.")
        await screen.pilot.press("1")
        await screen.shows("Compacted: about")
        await screen.idle()
        await screen.send("/recall xylophone")
        await screen.shows("Recalled 1 item", "result of Read")
        await screen.send("/unpin 1")
        await screen.shows("Unpinned.")
        await screen.send("/stats")
        await screen.shows("median", "Read")
