"""Nothing that goes wrong ends the app, and no key reaches past what is on top of it."""

import sqlite3
import time
from typing import Any

import pytest
from textual.app import ComposeResult
from textual.screen import ModalScreen

from agent_cli.core.policy import Mode
from agent_cli.frontends.tui import guarded_app, screen_view
from agent_cli.frontends.tui.modals.answer_list import AnswerList
from agent_cli.frontends.tui.modals.approval_modal import ApprovalModal
from agent_cli.frontends.tui.modals.guarded_modal import GuardedModal
from agent_cli.frontends.tui.modals.sessions_modal import SessionsModal
from agent_cli.frontends.tui.palette import Palette
from agent_cli.storage import session_index
from tests.kit.sessions import SceneMaker
from tests.kit.shells import until
from tests.screens.app import Screen, running

TOUCH = {"calls": [{"name": "Bash", "arguments": {"command": "touch made"}}]}


async def armed(screen: Screen) -> GuardedModal[Any]:
    """The modal on top, once a key can answer it."""
    await until(lambda: isinstance(screen.app.screen, GuardedModal))
    modal = screen.app.screen
    assert isinstance(modal, GuardedModal)
    await until(lambda: modal.seen_end and modal.guard.may_answer(time.monotonic()))
    return modal


# ── keys ──────────────────────────────────────────────────────────────────────────────────────────


async def test_shift_tab_in_a_modal_moves_the_choice_and_leaves_the_mode_alone(
    make_session: SceneMaker,
) -> None:
    async with running(make_session(TOUCH, {"text": "Fine."})) as screen:
        await screen.send("go")
        modal = await armed(screen)
        answers = modal.query_one(AnswerList)
        await screen.pilot.press("shift+tab")
        assert answers.cursor == 0, "no key leads from No to the widest yes"
        await screen.pilot.press("up")
        assert answers.cursor == 0
        await screen.pilot.press("tab", "tab", "shift+tab", "ctrl+b")
        assert answers.cursor == 1
        assert screen.session.mode is Mode.DEFAULT
        assert not screen.app.body.panel.display
        await screen.pilot.press("escape")
        await screen.shows("Fine.")
        await screen.idle()
        await screen.pilot.press("shift+tab")
        assert screen.session.mode is Mode.ACCEPT_EDITS


async def test_ctrl_c_leaves_a_menu(make_session: SceneMaker) -> None:
    change = {"calls": [{"name": "Bash", "arguments": {"command": "echo 1 > a"}}]}
    scene = make_session(change, {"text": "Done."}, settings={"mode": "yolo"})
    async with running(scene) as screen:
        await screen.send("go")
        await screen.shows("Done.")
        await screen.idle()
        await screen.send("/undo")
        await screen.asked("Undo 1 change?")
        await screen.pilot.press("ctrl+c")
        await until(lambda: len(screen.app.screen_stack) == 1)
        await screen.idle()
        assert (scene.workspace / "a").exists()


# ── questions that are withdrawn ──────────────────────────────────────────────────────────────────


async def test_a_question_of_a_turn_that_ends_goes_away_below_the_palette(
    make_session: SceneMaker,
) -> None:
    scene = make_session(TOUCH, {"text": "Next."})
    async with running(scene) as screen:
        await screen.send("go")
        await armed(screen)
        await screen.pilot.press("ctrl+p")
        await until(lambda: isinstance(screen.app.screen, Palette))
        scene.session.interrupt()
        await screen.idle()
        assert isinstance(screen.app.screen, Palette)
        assert not any(isinstance(each, GuardedModal) for each in screen.app.screen_stack)
        await screen.pilot.press("escape")
        await screen.shows("Interrupted")
        await screen.send("again")
        await screen.shows("Next.")


async def test_an_answer_held_while_its_question_is_withdrawn_does_nothing(
    make_session: SceneMaker,
) -> None:
    scene = make_session(TOUCH)
    async with running(scene) as screen:
        await screen.send("go")
        modal = await armed(screen)
        modal.guard.settle = 60.0
        await screen.pilot.press("y")
        scene.session.interrupt()
        await screen.idle()
        await until(lambda: len(screen.app.screen_stack) == 1)
        modal._settle()
        await screen.pilot.pause()
        assert len(screen.app.screen_stack) == 1
        assert not (scene.workspace / "made").exists()


async def test_an_answer_held_below_the_palette_is_not_given(make_session: SceneMaker) -> None:
    async with running(make_session(TOUCH)) as screen:
        await screen.send("go")
        modal = await armed(screen)
        modal.guard.settle = 60.0
        await screen.pilot.press("y", "ctrl+p")
        await until(lambda: isinstance(screen.app.screen, Palette))
        modal._settle()
        await screen.pilot.pause()
        assert isinstance(screen.app.screen, Palette)
        await screen.pilot.press("escape")
        await until(lambda: screen.app.screen is modal)


# ── faults ────────────────────────────────────────────────────────────────────────────────────────


async def test_a_full_disk_does_not_keep_a_prompt_from_being_sent(
    make_session: SceneMaker,
) -> None:
    scene = make_session({"text": "Hello."})
    async with running(scene) as screen:
        history = screen.app._opened.history._path  # type: ignore[union-attr]
        history.parent.mkdir(parents=True, exist_ok=True)
        history.mkdir()  # nothing can be added to a directory
        await screen.send("hi")
        await screen.shows("Hello.")
        assert screen.app._opened.history.entries() == ("hi",)  # type: ignore[union-attr]


async def test_a_sandbox_that_is_missing_is_a_warning(
    make_session: SceneMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    scene = make_session({"text": "Hello."}, settings={"sandbox": "bwrap"})
    async with running(scene) as screen:
        await screen.shows("warning", "bubblewrap")
        await screen.send("hi")
        await screen.shows("Hello.")


async def test_an_index_of_sessions_that_is_locked_is_told(
    make_session: SceneMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_index, "READ_TIMEOUT_S", 0.1)
    scene = make_session({"text": "Hello."})
    async with running(scene) as screen:
        await screen.send("/sessions")
        await screen.shows("No sessions in this directory")
        await screen.pilot.press("escape")
        other = make_session({"text": "yes"})
        await other.play("something")
        await other.session.close()
        index = next((scene.home / ".local/state/agent").rglob("*.sqlite"))
        lock = sqlite3.connect(index, isolation_level=None)
        lock.execute("BEGIN EXCLUSIVE")
        await screen.send("/sessions")
        await screen.shows("Another agent is updating the session list")
        await screen.pilot.press("escape")
        await until(lambda: not isinstance(screen.app.screen, SessionsModal))
        lock.close()
        await screen.send("hi")
        await screen.shows("Hello.")


async def test_a_handler_that_fails_is_reported_and_the_widget_keeps_working(
    make_session: SceneMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("oops")

    async with running(make_session({"text": "alive"})) as screen:
        screen.expects_faults = True
        prompt = screen.app.composer.prompt
        with monkeypatch.context() as patch:
            patch.setattr(prompt, "_walk", broken)
            patch.setattr(screen.app, "action_panel", broken)
            await screen.pilot.press("up", "ctrl+b")
            await screen.shows("this is a bug in agent (RuntimeError: oops)")
        await screen.send("go")
        await screen.shows("alive")


class Broken(ModalScreen[Any]):
    """A modal that cannot be drawn."""

    def __init__(self, *_: object, **__: object) -> None:
        super().__init__()

    def compose(self) -> ComposeResult:
        raise RuntimeError("no picture")
        yield


async def test_a_question_that_cannot_be_shown_is_declined(
    make_session: SceneMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = make_session(TOUCH, {"text": "Then not."})
    monkeypatch.setattr(screen_view, "ApprovalModal", Broken)
    async with running(scene) as screen:
        screen.expects_faults = True
        await screen.send("go")
        await screen.shows("this is a bug in agent (RuntimeError: no picture)", "Then not.")
        await screen.idle()
        assert len(screen.app.screen_stack) == 1
        assert not (scene.workspace / "made").exists()


async def test_a_modal_whose_key_fails_goes_away(
    make_session: SceneMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(modal: ApprovalModal, answer: object) -> None:
        raise RuntimeError("cannot give")

    monkeypatch.setattr(ApprovalModal, "give", fails)
    async with running(make_session(TOUCH, {"text": "Then not."})) as screen:
        screen.expects_faults = True
        await screen.send("go")
        await armed(screen)
        screen.app.simulate_key("escape")
        await screen.shows("RuntimeError: cannot give", "Then not.")
        await screen.idle()
        assert len(screen.app.screen_stack) == 1


async def test_a_broken_help_is_reported(
    make_session: SceneMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen_view, "HelpModal", Broken)
    async with running(make_session({"text": "alive"})) as screen:
        screen.expects_faults = True
        await screen.pilot.press("f1")
        await screen.shows("RuntimeError: no picture")
        assert len(screen.app.screen_stack) == 1
        await screen.send("go")
        await screen.shows("alive")


async def test_background_work_that_fails_is_reported(make_session: SceneMaker) -> None:
    async def fails() -> None:
        raise RuntimeError("tired")

    async with running(make_session()) as screen:
        screen.expects_faults = True
        guarded_app.run_in_background(screen.app, fails, "Walking failed")
        await screen.shows("Walking failed: this is a bug in agent (RuntimeError: tired)")


async def test_a_list_left_open_ends_with_the_app(make_session: SceneMaker) -> None:
    async with running(make_session()) as screen:
        screen.app.controller.run_command("sessions")
        await until(lambda: isinstance(screen.app.screen, SessionsModal))
    assert screen.app.crash is None
